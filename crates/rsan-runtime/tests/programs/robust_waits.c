// findings: none
// waits: 2
// Waits of robust algorithms, with a hint that the other thread is done: MCS and CLH locks, a barrier with a sense,
// Peterson's and Dekker's algorithms with seq_cst fences, and waiting for readers to leave.
#include "spin.h"

struct mcs {
    _Atomic(struct mcs *) next;
    atomic_int locked;
};

struct clh {
    atomic_int locked;
};

static _Atomic(struct mcs *) mcs_tail;
static struct mcs mcs_nodes[2];
static struct clh clh_nodes[3];
static _Atomic(struct clh *) clh_tail = &clh_nodes[2];
static atomic_int arrived, sense, flags[2], turn, wants[2], whose, reading[2];
static int counts[4];

static void mcs(int me) {
    struct mcs *mine = &mcs_nodes[me], *next, *expected = mine;
    STORE(mine->next, NULL, relaxed);
    STORE(mine->locked, 1, relaxed);
    struct mcs *before = atomic_exchange_explicit(&mcs_tail, mine, memory_order_acq_rel);
    if (before) {
        STORE(before->next, mine, release);
        while (LOAD(mine->locked, acquire)) sched_yield();
    }
    counts[0]++;
    if (!(next = LOAD(mine->next, acquire))) {
        if (atomic_compare_exchange_strong_explicit(&mcs_tail, &expected, NULL, memory_order_release,
                                                    memory_order_relaxed))
            return;
        while (!(next = LOAD(mine->next, acquire))) sched_yield();
    }
    STORE(next->locked, 0, release);
}

static void clh(int me) {
    static struct clh *nodes[2] = {&clh_nodes[0], &clh_nodes[1]};
    struct clh *mine = nodes[me];
    STORE(mine->locked, 1, relaxed);
    struct clh *before = atomic_exchange_explicit(&clh_tail, mine, memory_order_acq_rel);
    while (LOAD(before->locked, acquire)) sched_yield();
    counts[1]++;
    STORE(mine->locked, 0, release);
    nodes[me] = before;
}

static void peterson(int me) {
    STORE(flags[me], 1, relaxed);
    atomic_exchange_explicit(&turn, !me, memory_order_acq_rel);
    atomic_thread_fence(memory_order_seq_cst);
    while (LOAD(flags[!me], acquire) && LOAD(turn, relaxed) == !me) sched_yield();
    counts[2]++;
    STORE(flags[me], 0, release);
}

static void dekker(int me) {
    STORE(wants[me], 1, relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    while (LOAD(wants[!me], acquire)) {
        if (LOAD(whose, relaxed) == me) continue;
        STORE(wants[me], 0, relaxed);
        while (LOAD(whose, acquire) != me) sched_yield();
        STORE(wants[me], 1, relaxed);
        atomic_thread_fence(memory_order_seq_cst);
    }
    counts[3]++;
    STORE(whose, !me, relaxed);
    STORE(wants[me], 0, release);
}

static void wait_for_readers(void) {
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < 2; i++)
        while (LOAD(reading[i], acquire)) sched_yield();
}

static void *first(void *_) {
    for (int i = 0; i < 2; i++) {
        mcs(0);
        clh(0);
        peterson(0);
    }
    dekker(0);
    STORE(reading[0], 1, relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    STORE(reading[0], 0, release);
    give_hint();
    wait_for_turn(5);
    atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel);
    STORE(sense, 1, release);
    give_hint();
    return 0;
}

static void *second(void *_) {
    take_hint(1);
    peterson(1);
    end_of_turn();
    return 0;
}

static void *third(void *_) {
    take_hint(2);
    dekker(1);
    end_of_turn();
    return 0;
}

static void *fourth(void *_) {
    take_hint(3);
    wait_for_readers();
    end_of_turn();
    return 0;
}

static void *fifth(void *_) {
    wait_for_turn(4);
    atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel);
    end_of_turn();
    take_hint(6);
    while (LOAD(sense, acquire) != 1) sched_yield();
    mcs(1);
    clh(1);
    return 0;
}

int main(void) {
    RUN(first, second, third, fourth, fifth);
    return counts[0] == 3 && counts[1] == 3 && counts[2] == 3 && counts[3] == 2 ? 0 : 1;
}
