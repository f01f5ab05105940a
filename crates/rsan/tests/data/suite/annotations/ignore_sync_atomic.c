// An atomic flag whose order the program does not want to count.
// expect: data-race
#include <pthread.h>
#include <stdatomic.h>

void AnnotateIgnoreSyncBegin(const char *, int);
void AnnotateIgnoreSyncEnd(const char *, int);

static atomic_int ready;
static int data;

static void *second(void *unused) {
    (void)unused;
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    while (!atomic_load(&ready)) {
    }
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    data++; // <- data-race
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second, 0);
    data = 1; // <- data-race
    atomic_store(&ready, 1);
    pthread_join(thread, 0);
    return 0;
}
