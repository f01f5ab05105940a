// Treiber's stack of indices, with a counter beside the top index. Arguments: threads, rounds of each.
#include "bench.h"

enum { NODES = 256 };

static atomic_uint next[NODES + 1];
static unsigned long value[NODES + 1];
// The index of the first node (0: none) and, above it, the number of changes.
static atomic_ulong top;
static long rounds;

static void push(unsigned node) {
    unsigned long old = atomic_load_explicit(&top, ACQUIRE);
    unsigned long new;
    do {
        // Release, and acquire in `pop`: who sees the link of a node that was pushed again sees that it was popped.
        atomic_store_explicit(&next[node], (unsigned)old, RELEASE);
        new = (((old >> 32) + 1) << 32) | node;
    } while (!atomic_compare_exchange_strong_explicit(&top, &old, new, ACQ_REL, ACQUIRE));
}

static unsigned pop(void) {
    unsigned long old = atomic_load_explicit(&top, ACQUIRE);
    unsigned long new;
    do {
        if (!(unsigned)old) {
            return 0;
        }
        unsigned after = atomic_load_explicit(&next[(unsigned)old], ACQUIRE);
        new = (((old >> 32) + 1) << 32) | after;
    } while (!atomic_compare_exchange_strong_explicit(&top, &old, new, ACQ_REL, ACQUIRE));
    return (unsigned)old;
}

static void body(int thread) {
    for (long i = 0; i < rounds; i++) {
        unsigned waits = 0;
        unsigned node;
        while (!(node = pop())) {
            relax(&waits);
        }
        value[node]++;
        push(node);
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    for (unsigned i = 1; i <= NODES; i++) {
        push(i);
    }
    run_threads(threads, body);
    unsigned long sum = 0;
    for (unsigned node; (node = pop());) {
        sum += value[node];
    }
    check(sum == (unsigned long)(threads * rounds), "sum");
    return result(sum);
}
