// An object is freed without order with the unlock of its mutex.
// expect: data-race
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t *m;
static atomic_int done;

static void *work(void *arg) {
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m); // <- data-race
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t thread;
    m = calloc(1, sizeof *m);
    pthread_create(&thread, 0, work, 0);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
    }
    free(m); // <- data-race
    pthread_join(thread, 0);
    return 0;
}
