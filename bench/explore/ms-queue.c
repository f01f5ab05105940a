// The queue of Michael and Scott on an array of nodes; two threads enqueue, two dequeue. Bug: the link to a new node is written and
// read relaxed, and so is the tail read. Race on the value of a node.
#include "explore.h"

enum { NONE = 0, SENTINEL = 1, PRODUCERS = 2, NODES = SENTINEL + 1 + PRODUCERS };

typedef struct {
    int value;
    atomic_uint next;
} Node;

static Node nodes[NODES];
static atomic_uint head = SENTINEL, tail = SENTINEL;
static int out[PRODUCERS];

static void enqueue(unsigned node, int value) {
    nodes[node].value = value;
    atomic_store_explicit(&nodes[node].next, NONE, RELAXED);
    for (;;) {
        unsigned last = atomic_load_explicit(&tail, NEEDS(ACQUIRE, RELAXED));
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
        unsigned last = atomic_load_explicit(&tail, NEEDS(ACQUIRE, RELAXED));
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

static void *producer(void *number) {
    unsigned me = (unsigned)*(int *)number;
    enqueue(SENTINEL + 1 + me, (int)me + 1);
    return NULL;
}

static void *consumer(void *number) {
    int *mine = &out[*(int *)number % PRODUCERS];
    while ((*mine = dequeue()) == 0) {
        sched_yield();
    }
    return NULL;
}

int main(void) {
    void *(*bodies[MOST_THREADS])(void *) = {producer, producer, consumer, consumer};
    run(2 * PRODUCERS, bodies);
    assert(out[0] + out[1] == 3);
    return 0;
}
