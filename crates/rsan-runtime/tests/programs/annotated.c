// findings: none
// What rsan.h says is understood: waits, blocking compare-and-swaps, and what is benign.
#define __RSAN__ 1
#include "../../../rsan/include/rsan.h"
#include "spin.h"

static atomic_int x, lock, y, z;
static atomic_char small;
static _Atomic(int *) pointer;
static int plain, other;

static void *first(void *_) {
    rsan_bcas(&lock, 0, 1, memory_order_acquire);
    STORE(lock, 0, release);
    STORE(x, 1, relaxed);
    STORE(small, -1, relaxed);
    STORE(pointer, &plain, relaxed);
    STORE(y, 1, relaxed);
    STORE(z, 1, relaxed);
    plain = 1;
    rsan_benign_begin();
    other = 1;
    rsan_benign_end();
    give_hint();
    return 0;
}

static void *second(void *_) {
    take_hint(1);
    rsan_wait(&x, 1, memory_order_relaxed);
    rsan_wait(&small, -1, memory_order_relaxed);
    rsan_wait(&pointer, &plain, memory_order_relaxed);
    rsan_bcas(&lock, 0, 1, memory_order_relaxed);
    int stale = LOAD(y, relaxed) + RSAN_BENIGN(LOAD(z, relaxed));
    rsan_benign_begin();
    plain = 2;
    rsan_benign_end();
    other = 2;
    return stale == 2 ? 0 : (abort(), NULL);
}

int main(void) {
    rsan_benign_address(&y, sizeof y);
    RUN(first, second);
    return plain == 2 && other == 2 ? 0 : 1;
}
