// A sequence lock (Boehm, 2012): writers exclude each other by the version, readers try again when it has
// changed.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_uint version;
static atomic_int left, right;

static void *writer(void *unused) {
    (void)unused;
    for (int round = 1;; round++) {
        unsigned seen = atomic_load_explicit(&version, memory_order_acquire);
        if (seen % 2 == 1 ||
            !atomic_compare_exchange_strong_explicit(&version, &seen, seen + 1, memory_order_acq_rel,
                                                     memory_order_relaxed))
            continue;
        atomic_store_explicit(&left, round, memory_order_relaxed);
        atomic_store_explicit(&right, round, memory_order_relaxed);
        atomic_store_explicit(&version, seen + 2, memory_order_release);
    }
}

static void *reader(void *unused) {
    (void)unused;
    for (;;) {
        unsigned before = atomic_load_explicit(&version, memory_order_acquire);
        int l = atomic_load_explicit(&left, memory_order_relaxed);
        int r = atomic_load_explicit(&right, memory_order_relaxed);
        unsigned after = atomic_load_explicit(&version, memory_order_relaxed);
        if (before == after && before % 2 == 0 && l != r)
            abort();
    }
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
