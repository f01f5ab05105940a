// Store buffering that needs one switch: both threads must be between their store and their load.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *left(void *unused) {
    (void)unused;
    atomic_store_explicit(&x, 1, memory_order_release);
    (void)atomic_load_explicit(&y, memory_order_acquire);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, left, 0);
    atomic_store_explicit(&y, 1, memory_order_release);
    (void)atomic_load_explicit(&x, memory_order_acquire);
    pthread_join(thread, 0);
}
