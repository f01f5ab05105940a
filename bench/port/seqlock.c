// A sequence lock (Boehm, 2012): writers exclude each other by the version, readers try again when it has
// changed.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_uint version;
static atomic_int left, right;

static void *writer(void *unused) {
    unsigned seen = atomic_load_explicit(&version, memory_order_acquire);
    while (seen % 2 == 1 ||
           !atomic_compare_exchange_strong_explicit(&version, &seen, seen + 1, memory_order_acq_rel,
                                                    memory_order_relaxed))
        seen = atomic_load_explicit(&version, memory_order_acquire);
    atomic_store_explicit(&left, (int)seen, memory_order_release);
    atomic_store_explicit(&right, (int)seen, memory_order_release);
    atomic_store_explicit(&version, seen + 2, memory_order_release);
    return unused;
}

static void *reader(void *unused) {
    unsigned before, after;
    int l, r;
    do {
        before = atomic_load_explicit(&version, memory_order_acquire);
        l = atomic_load_explicit(&left, memory_order_acquire);
        r = atomic_load_explicit(&right, memory_order_acquire);
        after = atomic_load_explicit(&version, memory_order_relaxed);
    } while (before != after || before % 2 == 1);
    if (l != r)
        abort();
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
