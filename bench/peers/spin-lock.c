// A lock that is taken by compare-and-swap; every thread takes it once.
#include "peers.h"

static atomic_int lock, counter;

static void *body(void *number) {
    (void)number;
    int expected = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock, &expected, 1, ACQUIRE, RELAXED)) {
        expected = 0;
    }
    int before = atomic_load_explicit(&counter, RELAXED);
    atomic_store_explicit(&counter, before + 1, RELAXED);
    atomic_store_explicit(&lock, 0, RELEASE);
    return NULL;
}

int main(void) {
    run_all(THREADS, body);
    assert(atomic_load_explicit(&counter, RELAXED) == THREADS);
    return 0;
}
