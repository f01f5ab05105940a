// Slots taken and given back in a bitmap, with fetch_or and fetch_and. Arguments: threads, rounds of each.
#include "bench.h"

enum { SLOTS = 256 };

static atomic_ulong words[SLOTS / 64];
static unsigned long owned[SLOTS];
static long rounds;

static int take(uint32_t *random) {
    for (;;) {
        int slot = next_random(random) % SLOTS;
        unsigned long bit = 1ul << slot % 64;
        if (!(atomic_fetch_or_explicit(&words[slot / 64], bit, ACQ_REL) & bit)) {
            return slot;
        }
    }
}

static void body(int thread) {
    uint32_t random = thread + 1;
    for (long i = 0; i < rounds; i++) {
        int slot = take(&random);
        owned[slot]++;
        atomic_fetch_and_explicit(&words[slot / 64], ~(1ul << slot % 64), ACQ_REL);
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    unsigned long sum = 0;
    for (int i = 0; i < SLOTS; i++) {
        sum += owned[i];
    }
    check(sum == (unsigned long)(threads * rounds), "sum");
    return result(sum);
}
