// findings: violation
// A compare-and-swap fails on the current value and on the stale one, and the program says which.
#include "spin.h"

static atomic_int shared, mine;

static void *writer(void *_) {
    STORE(shared, 1, relaxed);
    give_hint();
    return 0;
}

static void *reader(void *_) {
    take_hint(1);
    int old = 2;
    atomic_compare_exchange_strong_explicit(&shared, &old, 3, memory_order_seq_cst, memory_order_relaxed);
    STORE(mine, old, release);
    return 0;
}

int main(void) {
    RUN(writer, reader);
    return LOAD(mine, relaxed) == 1 ? 0 : 1;
}
