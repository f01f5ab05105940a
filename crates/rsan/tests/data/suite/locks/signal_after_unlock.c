// The condition variable is signalled after the unlock, when the waiter may have destroyed it.
// expect: data-race
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;
static atomic_int signalled;

static void *work(void *arg) {
    pthread_mutex_lock(&m);
    done = 1;
    pthread_mutex_unlock(&m);
    pthread_cond_signal(&changed); // <- data-race
    atomic_store_explicit(&signalled, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&m);
    while (!done)
        pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
    while (!atomic_load_explicit(&signalled, memory_order_relaxed)) {
    }
    pthread_cond_destroy(&changed); // <- data-race
    pthread_join(thread, 0);
    return 0;
}
