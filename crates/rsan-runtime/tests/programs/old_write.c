// findings: violation
// tsan: none
// A compare-and-swap that may succeed on a value that was overwritten many times.
#include "turn.h"

static atomic_int x, y;
static int seen;

static void *writer(void *_) {
    wait_for_turn(0);
    for (int i = 1; i <= 40; i++) STORE(x, i, relaxed);
    seen = LOAD(y, relaxed);
    end_of_turn();
    return 0;
}

static void *swapper(void *_) {
    int expected = 0;
    wait_for_turn(1);
    STORE(y, 1, relaxed);
    atomic_compare_exchange_strong_explicit(&x, &expected, 99, memory_order_relaxed, memory_order_relaxed);
    return 0;
}

int main(void) {
    RUN(writer, swapper);
    return seen == 0 && x == 40 ? 0 : 1;
}
