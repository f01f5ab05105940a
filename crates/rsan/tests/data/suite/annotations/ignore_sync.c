// A mutex whose order the program does not want to count.
// expect: data-race
#include <pthread.h>

void AnnotateIgnoreSyncBegin(const char *, int);
void AnnotateIgnoreSyncEnd(const char *, int);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void add(void) {
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    pthread_mutex_lock(&mutex);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    counter++; // <- data-race
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    pthread_mutex_unlock(&mutex);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

static void *second(void *unused) {
    (void)unused;
    add();
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second, 0);
    add();
    pthread_join(thread, 0);
    return 0;
}
