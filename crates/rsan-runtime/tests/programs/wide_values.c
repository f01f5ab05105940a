// findings: none
// The only old value is the expected one, which cannot be swapped: the exchange follows it directly. Values
// that differ only in their high halves are different.
#include "turn.h"

static _Atomic unsigned long long word = 1ull << 40;
static atomic_int y;
static unsigned long long old, replaced;

static void *left(void *_) {
    wait_for_turn(0);
    replaced = atomic_exchange_explicit(&word, 2ull << 40, memory_order_relaxed);
    LOAD(y, relaxed);
    end_of_turn();
    return 0;
}

static void *right(void *_) {
    wait_for_turn(1);
    STORE(y, 1, relaxed);
    old = 1ull << 40;
    atomic_compare_exchange_strong_explicit(&word, &old, 6ull << 40, memory_order_relaxed, memory_order_relaxed);
    return 0;
}

int main(void) {
    RUN(left, right);
    return old == 2ull << 40 && replaced == 1ull << 40 ? 0 : 1;
}
