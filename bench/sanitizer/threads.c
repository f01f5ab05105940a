// Many short threads, a few at a time. Arguments: threads at a time, rounds.
#include "bench.h"

enum { WORDS = 64 };

static unsigned long sums[MAX_THREADS];
static unsigned long table[WORDS];

static void body(int thread) {
    for (int i = 0; i < WORDS; i++) {
        sums[thread] += table[i];
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    long rounds = argument(argc, argv, 2, 1, 1000000);
    unsigned long sum = 0;
    for (int i = 0; i < WORDS; i++) {
        table[i] = i;
    }
    for (long i = 0; i < rounds; i++) {
        run_threads(threads, body);
    }
    for (int i = 0; i < threads; i++) {
        sum += sums[i];
    }
    check(sum == (unsigned long)threads * rounds * (WORDS * (WORDS - 1) / 2), "sum");
    return result(sum);
}
