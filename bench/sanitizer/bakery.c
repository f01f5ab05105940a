// Lamport's bakery lock, with seq_cst accesses. Arguments: threads, rounds of each.
#include "bench.h"

static atomic_int choosing[MAX_THREADS];
static atomic_ulong number[MAX_THREADS];
static unsigned long counter;
static int threads;
static long rounds;

static void lock(int thread) {
    unsigned waits = 0;
    unsigned long largest = 0;
    atomic_store(&choosing[thread], 1);
    for (int i = 0; i < threads; i++) {
        unsigned long other = atomic_load(&number[i]);
        largest = other > largest ? other : largest;
    }
    unsigned long mine = largest + 1;
    atomic_store(&number[thread], mine);
    atomic_store(&choosing[thread], 0);
    for (int i = 0; i < threads; i++) {
        while (atomic_load(&choosing[i])) {
            relax(&waits);
        }
        for (;;) {
            unsigned long other = atomic_load(&number[i]);
            if (!other || other > mine || (other == mine && i >= thread)) {
                break;
            }
            relax(&waits);
        }
    }
}

static void body(int thread) {
    for (long i = 0; i < rounds; i++) {
        lock(thread);
        counter++;
        atomic_store(&number[thread], 0);
    }
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    check(counter == (unsigned long)(threads * rounds), "counter");
    return result(counter);
}
