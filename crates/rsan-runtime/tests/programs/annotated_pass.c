// findings: violation violation violation
// Annotated or not: a wait that a stale value lets through, a blocking compare-and-swap that may replace an old value,
// and what comes after the end of a benign part.
#define __RSAN__ 1
#include "../../../rsan/include/rsan.h"
#include "spin.h"

static atomic_int x, lock, y;

static void *first(void *_) {
    STORE(x, 1, relaxed);
    STORE(x, 0, relaxed);
    STORE(lock, 1, relaxed);
    STORE(lock, 0, relaxed);
    STORE(y, 1, relaxed);
    give_hint();
    return 0;
}

static void *second(void *_) {
    take_hint(1);
    rsan_wait(&x, 0, memory_order_relaxed);
    rsan_bcas(&lock, 0, 1, memory_order_relaxed);
    rsan_benign_begin();
    rsan_benign_end();
    return LOAD(y, relaxed) == 1 ? 0 : (abort(), NULL);
}

int main(void) {
    RUN(first, second);
    return 0;
}
