// findings: none
// waits: 6
// Spin locks, taken by a thread that knows that they are free, but not by happens-before: what it may still see is
// that they are held, and then it tries again. A test-and-set lock by exchange, by compare-and-swap and by a flag, with a
// test before it, and a ticket lock.
#include "spin.h"

static atomic_int by_exchange, by_cas, by_weak_cas, tested, next_ticket, serving;
static atomic_flag by_flag = ATOMIC_FLAG_INIT;

static void lock_all(void) {
    int zero = 0;
    while (atomic_exchange_explicit(&by_exchange, 1, memory_order_acquire)) sched_yield();
    while (!atomic_compare_exchange_strong_explicit(&by_cas, &zero, 1, memory_order_acquire, memory_order_relaxed))
        zero = 0;
    do
        zero = 0;
    while (!atomic_compare_exchange_weak_explicit(&by_weak_cas, &zero, 1, memory_order_acquire, memory_order_relaxed));
    while (atomic_flag_test_and_set_explicit(&by_flag, memory_order_acquire));
    while (LOAD(tested, relaxed) || atomic_exchange_explicit(&tested, 1, memory_order_acquire)) sched_yield();
    int ticket = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
    while (LOAD(serving, acquire) != ticket) sched_yield();
}

static void unlock_all(void) {
    STORE(by_exchange, 0, release);
    STORE(by_cas, 0, release);
    STORE(by_weak_cas, 0, release);
    atomic_flag_clear_explicit(&by_flag, memory_order_release);
    STORE(tested, 0, release);
    STORE(serving, LOAD(serving, relaxed) + 1, release);
}

static void *first(void *_) {
    for (int i = 0; i < 3; i++) {
        lock_all();
        unlock_all();
    }
    give_hint();
    return 0;
}

static void *second(void *_) {
    take_hint(1);
    lock_all();
    unlock_all();
    return 0;
}

int main(void) {
    RUN(first, second);
    return 0;
}
