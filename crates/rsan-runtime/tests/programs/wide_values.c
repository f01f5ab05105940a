// findings: none
// Compare-and-swap of values that differ only in their high halves: none of the stale ones would do.
#include "turn.h"

static _Atomic unsigned long long word = 1ull << 40;
static unsigned long long old;

static void *writer(void *_) {
    wait_for_turn(0);
    atomic_store_explicit(&word, 2ull << 40, memory_order_relaxed);
    atomic_store_explicit(&word, 3ull << 40, memory_order_relaxed);
    end_of_turn();
    return 0;
}

static void *swapper(void *_) {
    wait_for_turn(1);
    old = 5ull << 40;
    atomic_compare_exchange_strong_explicit(&word, &old, 6ull << 40, memory_order_relaxed, memory_order_relaxed);
    return 0;
}

int main(void) {
    RUN(writer, swapper);
    return old == 3ull << 40 ? 0 : 1;
}
