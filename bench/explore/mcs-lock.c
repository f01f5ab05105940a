// The queue lock of Mellor-Crummey and Scott. Bug: who waits looks at its gate, and who leaves looks for its successor, relaxed. Race
// on `shared`.
#include "explore.h"

typedef struct Node {
    _Atomic(struct Node *) next;
    atomic_bool waits;
} Node;

static _Atomic(Node *) tail;
int shared, seen[2];

static void enter(Node *me) {
    atomic_store_explicit(&me->next, NULL, RELAXED);
    atomic_store_explicit(&me->waits, true, RELAXED);
    Node *before = atomic_exchange_explicit(&tail, me, ACQ_REL);
    if (before == NULL) {
        return;
    }
    atomic_store_explicit(&before->next, me, RELEASE);
    while (atomic_load_explicit(&me->waits, NEEDS(ACQUIRE, RELAXED))) {
        sched_yield();
    }
}

static void leave(Node *me) {
    Node *next = atomic_load_explicit(&me->next, ACQUIRE);
    if (next == NULL) {
        Node *last = me;
        if (atomic_compare_exchange_strong_explicit(&tail, &last, NULL, ACQ_REL, ACQUIRE)) {
            return;
        }
        while ((next = atomic_load_explicit(&me->next, NEEDS(ACQUIRE, RELAXED))) == NULL) {
            sched_yield();
        }
    }
    atomic_store_explicit(&next->waits, false, RELEASE);
}

// The left thread writes and then reads, the right one reads and then writes.
static void *body(void *number) {
    static Node nodes[2];
    int me = *(int *)number;
    for (int round = 0; round < 2; round++) {
        enter(&nodes[me]);
        if (round == me) {
            shared = 17;
        } else {
            seen[me] = shared;
        }
        leave(&nodes[me]);
    }
    return NULL;
}

int main(void) {
    run_all(2, body);
    return 0;
}
