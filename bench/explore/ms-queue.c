// The queue of Michael and Scott on an array of nodes, four threads that enqueue and dequeue once each. Bug: the link to a new node is
// written and read relaxed. Race on the value of a node.
#include "explore.h"

enum { NONE = 0, SENTINEL = 1, THREADS_HERE = 4, NODES = SENTINEL + 1 + THREADS_HERE };

typedef struct {
    int value;
    atomic_uint next;
} Node;

static Node nodes[NODES];
static atomic_uint head = SENTINEL, tail = SENTINEL;
static int in[THREADS_HERE], out[THREADS_HERE];

static void enqueue(unsigned node, int value) {
    nodes[node].value = value;
    atomic_store_explicit(&nodes[node].next, NONE, RELAXED);
    for (;;) {
        unsigned last = atomic_load_explicit(&tail, ACQUIRE);
        unsigned next = atomic_load_explicit(&nodes[last].next, NEEDS(ACQUIRE, RELAXED));
        if (next != NONE) {
            atomic_compare_exchange_strong_explicit(&tail, &last, next, RELEASE, RELAXED);
            sched_yield();
            continue;
        }
        atomic_uint *link = &nodes[last].next;
        if (atomic_compare_exchange_strong_explicit(link, &next, node, NEEDS(RELEASE, RELAXED), RELAXED)) {
            atomic_compare_exchange_strong_explicit(&tail, &last, node, RELEASE, RELAXED);
            return;
        }
    }
}

// A value, or 0 if the queue is empty. Nodes are not used again.
static int dequeue(void) {
    for (;;) {
        unsigned first = atomic_load_explicit(&head, ACQUIRE);
        unsigned last = atomic_load_explicit(&tail, ACQUIRE);
        unsigned next = atomic_load_explicit(&nodes[first].next, NEEDS(ACQUIRE, RELAXED));
        if (next == NONE) {
            return 0;
        }
        if (first == last) {
            atomic_compare_exchange_strong_explicit(&tail, &last, next, RELEASE, RELAXED);
            sched_yield();
            continue;
        }
        int value = nodes[next].value;
        if (atomic_compare_exchange_strong_explicit(&head, &first, next, RELEASE, RELAXED)) {
            return value;
        }
        sched_yield();
    }
}

static void *body(void *number) {
    int me = *(int *)number;
    in[me] = me + 1;
    enqueue((unsigned)(SENTINEL + 1 + me), in[me]);
    out[me] = dequeue();
    return NULL;
}

int main(void) {
    run_all(THREADS_HERE, body);
    return 0;
}
