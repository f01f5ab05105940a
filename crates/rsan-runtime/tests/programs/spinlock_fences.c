// findings: none
// tsan: race
// A spin lock whose operations are relaxed and whose fences order: acquire after taking it, release before giving it
// back.
#include "turn.h"

static atomic_int held;
static int counter;

static void lock(void) {
    if (atomic_exchange_explicit(&held, 1, memory_order_relaxed)) abort();
    atomic_thread_fence(memory_order_acquire);
}

static void unlock(void) {
    atomic_thread_fence(memory_order_release);
    STORE(held, 0, relaxed);
}

static void *first(void *_) {
    wait_for_turn(0);
    lock();
    counter++;
    unlock();
    end_of_turn();
    return 0;
}

static void *second(void *_) {
    wait_for_turn(1);
    lock();
    counter++;
    unlock();
    return 0;
}

int main(void) {
    RUN(first, second);
    return counter == 2 ? 0 : 1;
}
