// Ticket lock. Arguments: threads, rounds of each.
#include "bench.h"

static atomic_uint next, serving;
static unsigned long counter;
static long rounds;

static void body(int thread) {
    for (long i = 0; i < rounds; i++) {
        unsigned waits = 0;
        unsigned mine = atomic_fetch_add_explicit(&next, 1, ACQ_REL);
        while (atomic_load_explicit(&serving, ACQUIRE) != mine) {
            relax(&waits);
        }
        counter++;
        atomic_store_explicit(&serving, mine + 1, RELEASE);
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    check(counter == (unsigned long)(threads * rounds), "counter");
    return result(counter);
}
