// A mutex is destroyed while the unlock of another thread may still be under way.
// expect: data-race
// says: the destroy of `m` by
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m;
static atomic_int done;

static void *work(void *arg) {
    pthread_mutex_lock(&m);
    atomic_store(&done, 1);
    pthread_mutex_unlock(&m); // <- data-race
    atomic_store_explicit(&done, 2, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_init(&m, 0);
    pthread_create(&thread, 0, work, 0);
    while (atomic_load_explicit(&done, memory_order_relaxed) != 2) {
    }
    pthread_mutex_destroy(&m); // <- data-race
    pthread_join(thread, 0);
    return 0;
}
