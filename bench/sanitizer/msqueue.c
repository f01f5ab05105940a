// The queue of Michael and Scott, of indices with counters; seq_cst, as published. Arguments: threads, rounds of each.
#include "bench.h"

enum { SPARE = 4, NODES = MAX_THREADS * SPARE + 1 };

// A link is the index of a node and, above it, the number of changes.
static atomic_ulong next[NODES + 1];
static atomic_ulong value[NODES + 1];
static _Alignas(LINE) atomic_ulong head;
static _Alignas(LINE) atomic_ulong tail;
static atomic_ulong total;
static long rounds;

static unsigned long link(unsigned node, unsigned long before) {
    return (((before >> 32) + 1) << 32) | node;
}

static void enqueue(unsigned node, unsigned long item) {
    atomic_store(&value[node], item);
    unsigned long end = atomic_load(&next[node]);
    atomic_store(&next[node], link(0, end));
    for (;;) {
        unsigned long last = atomic_load(&tail);
        unsigned long after = atomic_load(&next[(unsigned)last]);
        if (last != atomic_load(&tail)) {
            continue;
        }
        if ((unsigned)after) {
            atomic_compare_exchange_strong(&tail, &last, link((unsigned)after, last));
        } else if (atomic_compare_exchange_strong(&next[(unsigned)last], &after, link(node, after))) {
            atomic_compare_exchange_strong(&tail, &last, link(node, last));
            return;
        }
    }
}

// The node that is free now, or 0.
static unsigned dequeue(unsigned long *item) {
    for (;;) {
        unsigned long first = atomic_load(&head);
        unsigned long last = atomic_load(&tail);
        unsigned long after = atomic_load(&next[(unsigned)first]);
        if (first != atomic_load(&head)) {
            continue;
        }
        if ((unsigned)first == (unsigned)last) {
            if (!(unsigned)after) {
                return 0;
            }
            atomic_compare_exchange_strong(&tail, &last, link((unsigned)after, last));
        } else {
            *item = atomic_load(&value[(unsigned)after]);
            if (atomic_compare_exchange_strong(&head, &first, link((unsigned)after, first))) {
                return (unsigned)first;
            }
        }
    }
}

static void body(int thread) {
    unsigned long sum = 0, item;
    unsigned node = 2 + thread;
    for (long i = 1; i <= rounds; i++) {
        unsigned waits = 0;
        enqueue(node, i);
        while (!(node = dequeue(&item))) {
            relax(&waits);
        }
        sum += item;
    }
    atomic_fetch_add(&total, sum);
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    atomic_init(&head, 1);
    atomic_init(&tail, 1);
    run_threads(threads, body);
    unsigned long sum = atomic_load(&total);
    check(sum == (unsigned long)threads * rounds * (rounds + 1) / 2, "sum");
    return result(sum);
}
