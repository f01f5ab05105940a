// The queue lock of Craig, Landin and Hagersten. Arguments: threads, rounds of each.
#include "bench.h"

struct node {
    _Alignas(LINE) atomic_int held;
};

static struct node nodes[MAX_THREADS + 1];
static _Atomic(struct node *) tail = &nodes[MAX_THREADS];
static unsigned long counter;
static long rounds;

static void body(int thread) {
    struct node *mine = &nodes[thread];
    for (long i = 0; i < rounds; i++) {
        unsigned waits = 0;
        atomic_store_explicit(&mine->held, 1, RELAXED);
        struct node *before = atomic_exchange_explicit(&tail, mine, ACQ_REL);
        while (atomic_load_explicit(&before->held, ACQUIRE)) {
            relax(&waits);
        }
        counter++;
        atomic_store_explicit(&mine->held, 0, RELEASE);
        mine = before;
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    check(counter == (unsigned long)(threads * rounds), "counter");
    return result(counter);
}
