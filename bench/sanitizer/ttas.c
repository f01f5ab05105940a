// Test-and-test-and-set lock. Arguments: threads, rounds of each.
#include "bench.h"

static atomic_int held;
static unsigned long counter;
static long rounds;

static void body(int thread) {
    for (long i = 0; i < rounds; i++) {
        unsigned waits = 0;
        do {
            while (atomic_load_explicit(&held, RELAXED)) {
                relax(&waits);
            }
        } while (atomic_exchange_explicit(&held, 1, ACQUIRE));
        counter++;
        atomic_store_explicit(&held, 0, RELEASE);
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    check(counter == (unsigned long)(threads * rounds), "counter");
    return result(counter);
}
