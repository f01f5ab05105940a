// Byte by byte: histograms of a shared buffer and a checksum of a copy. Arguments: threads, bytes, repetitions.
#include "bench.h"

static unsigned char *text;
static unsigned long sums[MAX_THREADS];
static long count, repetitions;

static void body(int thread) {
    unsigned *histogram = calloc(256, sizeof *histogram);
    unsigned char *copy = malloc(count);
    check(histogram && copy, "memory");
    unsigned long sum = 0;
    for (long r = 0; r < repetitions; r++) {
        for (long i = 0; i < count; i++) {
            histogram[text[i]]++;
            copy[i] = text[i] ^ (unsigned char)r;
        }
        for (long i = 0; i < count; i++) {
            sum = sum * 33 + copy[i];
        }
    }
    sums[thread] = sum + histogram['a'];
    free(copy);
    free(histogram);
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    count = argument(argc, argv, 2, 1, 100000000);
    repetitions = argument(argc, argv, 3, 1, 1000000);
    text = malloc(count);
    check(text != 0, "memory");
    uint32_t random = 1;
    for (long i = 0; i < count; i++) {
        text[i] = next_random(&random);
    }
    run_threads(threads, body);
    free(text);
    for (int i = 1; i < threads; i++) {
        check(sums[i] == sums[0], "all do the same");
    }
    return result(sums[0]);
}
