// memcpy, memmove and memset of many sizes. Arguments: threads, rounds of each.
#include "bench.h"

enum { SIZE = 65536 };

static unsigned long sums[MAX_THREADS];
static long rounds;

static void body(int thread) {
    unsigned char *from = malloc(SIZE), *to = malloc(SIZE);
    check(from && to, "memory");
    memset(from, 1, SIZE);
    memset(to, 0, SIZE);
    uint32_t random = 1;
    for (long i = 0; i < rounds; i++) {
        // Mostly small, sometimes large.
        size_t size = next_random(&random) % (i % 64 ? 256 : SIZE / 2);
        size_t at = next_random(&random) % (SIZE / 2);
        memcpy(to + at, from + at, size);
        memmove(to + at, to + at / 2, size);
        memset(from + at, (int)i, size);
    }
    for (int i = 0; i < SIZE; i++) {
        sums[thread] += to[i];
    }
    free(from);
    free(to);
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 100000000);
    run_threads(threads, body);
    for (int i = 1; i < threads; i++) {
        check(sums[i] == sums[0], "all do the same");
    }
    return result(sums[0]);
}
