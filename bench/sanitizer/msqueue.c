// The queue of Michael and Scott, of indices with counters. Arguments: threads, rounds of each.
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
    atomic_store_explicit(&value[node], item, RELAXED);
    unsigned long end = atomic_load_explicit(&next[node], RELAXED);
    atomic_store_explicit(&next[node], link(0, end), RELAXED);
    for (;;) {
        unsigned long last = atomic_load_explicit(&tail, ACQUIRE);
        unsigned long after = atomic_load_explicit(&next[(unsigned)last], ACQUIRE);
        if (last != atomic_load_explicit(&tail, ACQUIRE)) {
            continue;
        }
        if ((unsigned)after) {
            atomic_compare_exchange_strong_explicit(&tail, &last, link((unsigned)after, last), ACQ_REL, ACQUIRE);
        } else if (atomic_compare_exchange_strong_explicit(&next[(unsigned)last], &after, link(node, after), ACQ_REL,
                                                           ACQUIRE)) {
            atomic_compare_exchange_strong_explicit(&tail, &last, link(node, last), ACQ_REL, ACQUIRE);
            return;
        }
    }
}

// The node that is free now, or 0.
static unsigned dequeue(unsigned long *item) {
    for (;;) {
        unsigned long first = atomic_load_explicit(&head, ACQUIRE);
        unsigned long last = atomic_load_explicit(&tail, ACQUIRE);
        unsigned long after = atomic_load_explicit(&next[(unsigned)first], ACQUIRE);
        if (first != atomic_load_explicit(&head, ACQUIRE)) {
            continue;
        }
        if ((unsigned)first == (unsigned)last) {
            if (!(unsigned)after) {
                return 0;
            }
            atomic_compare_exchange_strong_explicit(&tail, &last, link((unsigned)after, last), ACQ_REL, ACQUIRE);
        } else {
            *item = atomic_load_explicit(&value[(unsigned)after], ACQUIRE);
            if (atomic_compare_exchange_strong_explicit(&head, &first, link((unsigned)after, first), ACQ_REL,
                                                        ACQUIRE)) {
                return (unsigned)first;
            }
        }
    }
}

static void body(int thread) {
    unsigned long sum = 0, item;
    unsigned waits = 0, node = 2 + thread;
    for (long i = 1; i <= rounds; i++) {
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
