// Merge sort: each thread sorts a part, then pairs of parts are merged. Arguments: threads (a power of two), numbers.
#include "bench.h"

static uint32_t *numbers, *scratch;
static int threads;
static long count, width;

static void merge(long low, long middle, long high) {
    long i = low, j = middle;
    for (long k = low; k < high; k++) {
        if (i < middle && (j >= high || numbers[i] <= numbers[j])) {
            scratch[k] = numbers[i++];
        } else {
            scratch[k] = numbers[j++];
        }
    }
    memcpy(numbers + low, scratch + low, (high - low) * sizeof *numbers);
}

static void sort(long low, long high) {
    if (high - low > 1) {
        long middle = low + (high - low) / 2;
        sort(low, middle);
        sort(middle, high);
        merge(low, middle, high);
    }
}

static long bound(long part) {
    return count * part / threads;
}

static void sort_part(int thread) {
    sort(bound(thread), bound(thread + 1));
}

static void merge_parts(int thread) {
    long first = thread * width;
    merge(bound(first), bound(first + width / 2), bound(first + width));
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 1, 1, MAX_THREADS);
    count = argument(argc, argv, 2, 1, 100000000);
    check((threads & (threads - 1)) == 0, "a power of two");
    numbers = malloc(count * sizeof *numbers);
    scratch = malloc(count * sizeof *scratch);
    check(numbers && scratch, "memory");
    uint32_t random = 1;
    for (long i = 0; i < count; i++) {
        numbers[i] = next_random(&random);
    }
    run_threads(threads, sort_part);
    for (width = 2; width <= threads; width *= 2) {
        run_threads(threads / width, merge_parts);
    }
    unsigned long hash = 0;
    for (long i = 0; i < count; i++) {
        check(i == 0 || numbers[i - 1] <= numbers[i], "order");
        hash = hash * 31 + numbers[i];
    }
    free(numbers);
    free(scratch);
    return result(hash);
}
