// Dekker's lock with fences, two threads. Bug: the left thread lacks the fence between its flag and the look at the other's. Race
// on `owner`.
#include "explore.h"

static atomic_int wants[2], turn;
int owner;

static void announce(int me, bool fenced) {
    atomic_store_explicit(&wants[me], 1, RELAXED);
    if (fenced) {
        atomic_thread_fence(SEQ_CST);
    }
}

static void enter(int me, bool fenced) {
    int other = 1 - me;
    announce(me, fenced);
    while (atomic_load_explicit(&wants[other], RELAXED)) {
        if (atomic_load_explicit(&turn, RELAXED) == me) {
            sched_yield();
            continue;
        }
        atomic_store_explicit(&wants[me], 0, RELAXED);
        while (atomic_load_explicit(&turn, RELAXED) != me) {
            sched_yield();
        }
        announce(me, true);
    }
    atomic_thread_fence(ACQUIRE);
}

static void leave(int me) {
    atomic_store_explicit(&turn, 1 - me, RELAXED);
    atomic_thread_fence(RELEASE);
    atomic_store_explicit(&wants[me], 0, RELAXED);
}

static void *body(void *number) {
    int me = *(int *)number;
    enter(me, NEEDS(true, me == 1));
    owner = me;
    leave(me);
    return NULL;
}

int main(void) {
    run_all(2, body);
    return 0;
}
