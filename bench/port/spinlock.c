// A test-and-set lock that waits until the lock is free before it tries again.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int held, shared;

static void *p0(void *unused) {
    while (atomic_exchange_explicit(&held, 1, memory_order_acq_rel))
        while (atomic_load_explicit(&held, memory_order_relaxed))
            ;
    atomic_store_explicit(&shared, 0, memory_order_relaxed);
    if (atomic_load_explicit(&shared, memory_order_relaxed) != 0)
        abort();
    atomic_store_explicit(&held, 0, memory_order_release);
    return unused;
}

static void *p1(void *unused) {
    while (atomic_exchange_explicit(&held, 1, memory_order_acq_rel))
        while (atomic_load_explicit(&held, memory_order_relaxed))
            ;
    atomic_store_explicit(&shared, 1, memory_order_relaxed);
    if (atomic_load_explicit(&shared, memory_order_relaxed) != 1)
        abort();
    atomic_store_explicit(&held, 0, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, p0, NULL);
    pthread_create(&threads[1], NULL, p1, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
