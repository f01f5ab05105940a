// Store buffering with one seq_cst access, which RC20 has not.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *second(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_release);
    atomic_load(&x);
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, 0, second, 0)) return 2;
    pthread_join(thread, 0);
    return 0;
}
