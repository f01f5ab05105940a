/* A library for programs that are not instrumented: threads with a lock, and without. */
#include <pthread.h>

static int shared;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *with_lock(void *argument) {
    pthread_mutex_lock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *without(void *argument) {
    shared++;
    return argument;
}

static int twice(void *(*routine)(void *)) {
    pthread_t threads[2];
    shared = 0;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, routine, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return shared == 2 ? 0 : 1;
}

int good(void) { return twice(with_lock); }
int bad(void) { return twice(without); }
