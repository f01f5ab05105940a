// Dekker's lock for two threads, with fences. Argument: rounds of each.
#include "bench.h"

static atomic_int want[2], turn;
static unsigned long counter;
static long rounds;

static void body(int thread) {
    int other = 1 - thread;
    for (long i = 0; i < rounds; i++) {
        unsigned waits = 0;
        atomic_store_explicit(&want[thread], 1, RELEASE);
        atomic_thread_fence(SEQ_CST);
        while (atomic_load_explicit(&want[other], ACQUIRE)) {
            if (atomic_load_explicit(&turn, ACQUIRE) != thread) {
                atomic_store_explicit(&want[thread], 0, RELEASE);
                atomic_thread_fence(SEQ_CST);
                while (atomic_load_explicit(&turn, ACQUIRE) != thread) {
                    relax(&waits);
                }
                atomic_store_explicit(&want[thread], 1, RELEASE);
                atomic_thread_fence(SEQ_CST);
            } else {
                relax(&waits);
            }
        }
        counter++;
        atomic_store_explicit(&turn, other, RELEASE);
        atomic_store_explicit(&want[thread], 0, RELEASE);
    }
    // Whoever ends leaves the turn to the other one, who may still need it.
    atomic_store_explicit(&turn, other, RELEASE);
}

int main(int argc, char **argv) {
    rounds = argument(argc, argv, 1, 1, 1000000000);
    run_threads(2, body);
    check(counter == (unsigned long)(2 * rounds), "counter");
    return result(counter);
}
