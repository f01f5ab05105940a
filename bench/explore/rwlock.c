// A reader-writer lock as in linux-rwlock.c. Bug: the write lock is taken relaxed, so that a writer need not see what the last one
// wrote. An update is lost.
#include "explore.h"

enum { BIAS = 0x100000, THREADS_HERE = 2 };

static atomic_int lock = BIAS, left, right;

static void read_lock(void) {
    while (atomic_fetch_sub_explicit(&lock, 1, ACQUIRE) <= 0) {
        atomic_fetch_add_explicit(&lock, 1, RELAXED);
        while (atomic_load_explicit(&lock, RELAXED) <= 0) {
            sched_yield();
        }
    }
}

static void write_lock(void) {
    while (atomic_fetch_sub_explicit(&lock, BIAS, NEEDS(ACQUIRE, RELAXED)) != BIAS) {
        atomic_fetch_add_explicit(&lock, BIAS, RELAXED);
        while (atomic_load_explicit(&lock, RELAXED) != BIAS) {
            sched_yield();
        }
    }
}

static void unlock(int share) {
    atomic_fetch_add_explicit(&lock, share, RELEASE);
}

static void add(atomic_int *to) {
    int value = atomic_load_explicit(to, RELAXED);
    atomic_store_explicit(to, value + 1, RELAXED);
}

static void *body(void *number) {
    (void)number;
    write_lock();
    add(&left);
    add(&right);
    unlock(BIAS);
    read_lock();
    int l = atomic_load_explicit(&left, RELAXED);
    int r = atomic_load_explicit(&right, RELAXED);
    unlock(1);
    assert(l == r && l >= 1);
    return NULL;
}

int main(void) {
    run_all(THREADS_HERE, body);
    assert(atomic_load(&left) == THREADS_HERE);
    return 0;
}
