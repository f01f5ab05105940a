// A spin lock of one's own, by compare-and-swap.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
static atomic_int lock;
static int counter;

static void *add(void *unused) {
    for (int i = 0; i < 100; i++) {
        int open = 0;
        while (!atomic_compare_exchange_weak_explicit(&lock, &open, 1, memory_order_acquire, memory_order_relaxed))
            open = 0;
        counter++;
        atomic_store_explicit(&lock, 0, memory_order_release);
    }
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
