// The main thread waits for a condition that nobody is left to signal.
// expect: deadlock
// says: every thread waits
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int done;

static void *work(void *arg) {
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&m);
    while (!done)
        pthread_cond_wait(&ready, &m); // <- deadlock
    pthread_mutex_unlock(&m);
    pthread_join(thread, 0);
    return 0;
}
