// findings: violation violation violation
// waits: 0
// Loops that look like retries, and are not: a compare-and-swap that may succeed on the old write, one that writes
// something else after it failed, and one whose failure does not acquire what the load would have acquired.
#include "spin.h"

static atomic_int stored, other, weaker;
static int data, seen;

static void *first(void *_) {
    STORE(stored, 1, relaxed);
    STORE(stored, 2, relaxed);
    atomic_fetch_add_explicit(&other, 1, memory_order_relaxed);
    data = 1;
    atomic_fetch_add_explicit(&weaker, 1, memory_order_release);
    give_hint();
    return 0;
}

static void *second(void *_) {
    take_hint(1);
    int old = LOAD(stored, relaxed);
    while (!atomic_compare_exchange_strong_explicit(&stored, &old, old + 10, memory_order_relaxed,
                                                    memory_order_relaxed));
    old = LOAD(other, relaxed);
    int tries = 0;
    while (!atomic_compare_exchange_strong_explicit(&other, &old, old + 10 + tries, memory_order_relaxed,
                                                    memory_order_relaxed))
        tries = 100;
    old = LOAD(weaker, acquire);
    do
        seen = old ? data : 0;
    while (!atomic_compare_exchange_strong_explicit(&weaker, &old, old + 10, memory_order_relaxed,
                                                    memory_order_relaxed));
    return 0;
}

int main(void) {
    RUN(first, second);
    return LOAD(stored, relaxed) == 12 && LOAD(other, relaxed) == 11 && seen == 1 ? 0 : 1;
}
