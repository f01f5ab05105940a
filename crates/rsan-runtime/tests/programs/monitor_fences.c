// findings: none
// tsan: race
// A sleeper and a waker as in a scheduler's monitor: each announces itself, and looks for the other after a seq_cst
// fence. What the waker did comes before the sleeper going on.
#include "turn.h"

static atomic_int sleepers, work;
static int payload, done;

static void *waker(void *_) {
    wait_for_turn(1);
    payload = 7;
    atomic_thread_fence(memory_order_release);
    STORE(work, 1, relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (LOAD(sleepers, relaxed) != 1) abort();
    end_of_turn();
    return 0;
}

static void *sleeper(void *_) {
    wait_for_turn(0);
    atomic_fetch_add_explicit(&sleepers, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (LOAD(work, relaxed)) abort();
    end_of_turn();
    wait_for_turn(2);
    if (LOAD(work, relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        done = payload;
    }
    return 0;
}

int main(void) {
    RUN(waker, sleeper);
    return done == 7 ? 0 : 1;
}
