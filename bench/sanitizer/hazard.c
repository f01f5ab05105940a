// A stack of heap nodes, reclaimed with hazard pointers. Arguments: threads, rounds of each.
#include "bench.h"

enum { BATCH = 32 };

struct node {
    struct node *next;
    unsigned long value;
};

struct slot {
    _Alignas(LINE) _Atomic(struct node *) hazard;
};

static _Atomic(struct node *) top;
static struct slot slots[MAX_THREADS];
static atomic_ulong total;
static int threads;
static long rounds;

struct retired {
    struct node *nodes[BATCH + MAX_THREADS];
    int count;
};

static void push(unsigned long value) {
    struct node *node = malloc(sizeof *node);
    check(node != 0, "memory");
    node->value = value;
    struct node *old = atomic_load_explicit(&top, ACQUIRE);
    do {
        node->next = old;
    } while (!atomic_compare_exchange_strong_explicit(&top, &old, node, ACQ_REL, ACQUIRE));
}

// Leaves the hazard pointer as it is: clearing it would be a store without a fence after it.
static struct node *pop(int thread) {
    for (;;) {
        struct node *node = atomic_load_explicit(&top, ACQUIRE);
        if (!node) {
            return 0;
        }
        atomic_store_explicit(&slots[thread].hazard, node, RELEASE);
        atomic_thread_fence(SEQ_CST);
        if (atomic_load_explicit(&top, ACQUIRE) != node) {
            continue;
        }
        struct node *after = node->next;
        if (atomic_compare_exchange_strong_explicit(&top, &node, after, ACQ_REL, ACQUIRE)) {
            return node;
        }
    }
}

static void reclaim(struct retired *retired) {
    struct node *hazards[MAX_THREADS];
    int kept = 0;
    for (int t = 0; t < threads; t++) {
        // Each time: what one hazard pointer tells of the stack must be known to whoever sets the next one.
        atomic_thread_fence(SEQ_CST);
        hazards[t] = atomic_load_explicit(&slots[t].hazard, ACQUIRE);
    }
    for (int i = 0; i < retired->count; i++) {
        struct node *node = retired->nodes[i];
        int hazardous = 0;
        for (int t = 0; t < threads; t++) {
            hazardous |= hazards[t] == node;
        }
        if (hazardous) {
            retired->nodes[kept++] = node;
        } else {
            free(node);
        }
    }
    retired->count = kept;
}

static void body(int thread) {
    struct retired retired = {.count = 0};
    unsigned long sum = 0;
    for (long i = 0; i < rounds; i++) {
        unsigned waits = 0;
        struct node *node;
        push(i);
        while (!(node = pop(thread))) {
            relax(&waits);
        }
        sum += node->value;
        retired.nodes[retired.count++] = node;
        if (retired.count >= BATCH) {
            reclaim(&retired);
        }
    }
    atomic_store_explicit(&slots[thread].hazard, 0, RELEASE);
    atomic_thread_fence(SEQ_CST);
    unsigned waits = 0;
    while (retired.count) {
        reclaim(&retired);
        relax(&waits);
    }
    atomic_fetch_add(&total, sum);
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    unsigned long sum = atomic_load(&total);
    check(sum == (unsigned long)threads * rounds * (rounds - 1) / 2, "sum");
    return result(sum);
}
