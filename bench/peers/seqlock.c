// A sequence lock: one writer of two rounds, and readers that try once.
#include "peers.h"

enum { ROUNDS = 2 };

static atomic_int version, left, right;

static void *writer(void *number) {
    (void)number;
    for (int round = 1; round <= ROUNDS; round++) {
        atomic_store_explicit(&version, 2 * round - 1, RELEASE);
        atomic_store_explicit(&left, round, RELEASE);
        atomic_store_explicit(&right, round, RELEASE);
        atomic_store_explicit(&version, 2 * round, RELEASE);
    }
    return NULL;
}

static void *reader(void *number) {
    (void)number;
    int before = atomic_load_explicit(&version, ACQUIRE);
    int l = atomic_load_explicit(&left, ACQUIRE);
    int r = atomic_load_explicit(&right, ACQUIRE);
    int after = atomic_load_explicit(&version, ACQUIRE);
    assert(before % 2 == 1 || before != after || l == r);
    return NULL;
}

int main(void) {
    void *(*bodies[MOST_THREADS])(void *) = {writer};
    for (int i = 1; i < THREADS; i++) {
        bodies[i] = reader;
    }
    run(THREADS, bodies);
    return 0;
}
