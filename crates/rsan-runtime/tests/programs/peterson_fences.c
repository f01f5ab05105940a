// findings: none
// tsan: race
// Peterson's lock with relaxed accesses: a seq_cst fence between raising the flag and looking at the other's, and
// fences around the section.
#include "turn.h"

static atomic_int wants[2], last;
static int counter;

static void section(int me) {
    STORE(wants[me], 1, relaxed);
    atomic_exchange_explicit(&last, me, memory_order_acq_rel);
    atomic_thread_fence(memory_order_seq_cst);
    // The order of the threads is pinned: nobody has to wait.
    if (LOAD(wants[1 - me], relaxed) && LOAD(last, relaxed) == me) abort();
    atomic_thread_fence(memory_order_acquire);
    counter++;
    atomic_thread_fence(memory_order_release);
    STORE(wants[me], 0, relaxed);
}

static void *first(void *_) {
    wait_for_turn(0);
    section(0);
    end_of_turn();
    return 0;
}

static void *second(void *_) {
    wait_for_turn(1);
    section(1);
    end_of_turn();
    return 0;
}

int main(void) {
    RUN(first, second);
    return counter == 2 ? 0 : 1;
}
