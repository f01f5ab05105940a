// The queue lock of Mellor-Crummey and Scott. Arguments: threads, rounds of each.
#include "bench.h"

struct node {
    _Alignas(LINE) _Atomic(struct node *) next;
    atomic_int waiting;
};

static struct node nodes[MAX_THREADS];
static _Atomic(struct node *) tail;
static unsigned long counter;
static long rounds;

static void lock(struct node *mine) {
    unsigned waits = 0;
    atomic_store_explicit(&mine->next, 0, RELAXED);
    atomic_store_explicit(&mine->waiting, 1, RELAXED);
    struct node *before = atomic_exchange_explicit(&tail, mine, ACQ_REL);
    if (before) {
        atomic_store_explicit(&before->next, mine, RELEASE);
        while (atomic_load_explicit(&mine->waiting, ACQUIRE)) {
            relax(&waits);
        }
    }
}

static void unlock(struct node *mine) {
    unsigned waits = 0;
    struct node *after = atomic_load_explicit(&mine->next, ACQUIRE);
    if (!after) {
        struct node *expected = mine;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, 0, ACQ_REL, ACQUIRE)) {
            return;
        }
        while (!(after = atomic_load_explicit(&mine->next, ACQUIRE))) {
            relax(&waits);
        }
    }
    atomic_store_explicit(&after->waiting, 0, RELEASE);
}

static void body(int thread) {
    for (long i = 0; i < rounds; i++) {
        lock(&nodes[thread]);
        counter++;
        unlock(&nodes[thread]);
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    check(counter == (unsigned long)(threads * rounds), "counter");
    return result(counter);
}
