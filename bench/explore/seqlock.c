// A sequence lock with two writers. Bug: the increments around a write are relaxed, so that a reader may see half of it.
#include "explore.h"

static atomic_int version, left, right;

static void write_both(int value) {
    int was = atomic_load_explicit(&version, ACQUIRE);
    for (;;) {
        if (was % 2 == 0 &&
            atomic_compare_exchange_weak_explicit(&version, &was, was + 1, NEEDS(ACQUIRE, RELAXED), RELAXED)) {
            break;
        }
        sched_yield();
        was = atomic_load_explicit(&version, ACQUIRE);
    }
    atomic_thread_fence(RELEASE);
    atomic_store_explicit(&left, value, RELAXED);
    atomic_store_explicit(&right, value, RELAXED);
    atomic_fetch_add_explicit(&version, 1, NEEDS(RELEASE, RELAXED));
}

static void read_both(int *l, int *r) {
    for (;;) {
        int before = atomic_load_explicit(&version, ACQUIRE);
        if (before % 2 == 0) {
            *l = atomic_load_explicit(&left, RELAXED);
            *r = atomic_load_explicit(&right, RELAXED);
            atomic_thread_fence(ACQUIRE);
            if (atomic_load_explicit(&version, RELAXED) == before) {
                return;
            }
        }
        sched_yield();
    }
}

static void *writer(void *number) {
    write_both(*(int *)number + 1);
    return NULL;
}

static void *reader(void *number) {
    (void)number;
    int l, r;
    read_both(&l, &r);
    assert(l == r);
    return NULL;
}

int main(void) {
    void *(*bodies[MOST_THREADS])(void *) = {writer, writer, reader};
    run(3, bodies);
    return 0;
}
