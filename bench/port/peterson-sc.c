// Peterson's mutual exclusion (1981) for two threads, without fences: right under SC only.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int want0, want1, turn, shared;

static void *p0(void *unused) {
    atomic_store_explicit(&want0, 1, memory_order_relaxed);
    atomic_store_explicit(&turn, 1, memory_order_relaxed);
    while (atomic_load_explicit(&want1, memory_order_relaxed) &&
           atomic_load_explicit(&turn, memory_order_relaxed) == 1)
        ;
    atomic_store_explicit(&shared, 0, memory_order_relaxed);
    if (atomic_load_explicit(&shared, memory_order_relaxed) != 0)
        abort();
    atomic_store_explicit(&want0, 0, memory_order_relaxed);
    return unused;
}

static void *p1(void *unused) {
    atomic_store_explicit(&want1, 1, memory_order_relaxed);
    atomic_store_explicit(&turn, 0, memory_order_relaxed);
    while (atomic_load_explicit(&want0, memory_order_relaxed) &&
           atomic_load_explicit(&turn, memory_order_relaxed) == 0)
        ;
    atomic_store_explicit(&shared, 1, memory_order_relaxed);
    if (atomic_load_explicit(&shared, memory_order_relaxed) != 1)
        abort();
    atomic_store_explicit(&want1, 0, memory_order_relaxed);
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
