// Prefix sums in two passes with a barrier between them. Arguments: threads, numbers, repetitions.
#include "bench.h"

static uint32_t *numbers;
static uint32_t totals[MAX_THREADS];
static pthread_barrier_t barrier;
static int threads;
static long count, repetitions;

static void body(int thread) {
    long low = count * thread / threads, high = count * (thread + 1) / threads;
    for (long r = 0; r < repetitions; r++) {
        uint32_t sum = 0;
        for (long i = low; i < high; i++) {
            sum += numbers[i];
            numbers[i] = sum;
        }
        totals[thread] = sum;
        pthread_barrier_wait(&barrier);
        uint32_t before = 0;
        for (int t = 0; t < thread; t++) {
            before += totals[t];
        }
        for (long i = low; i < high; i++) {
            numbers[i] += before;
        }
        pthread_barrier_wait(&barrier);
    }
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 1, 1, MAX_THREADS);
    count = argument(argc, argv, 2, MAX_THREADS, 100000000);
    repetitions = argument(argc, argv, 3, 1, 1000000);
    numbers = malloc(count * sizeof *numbers);
    check(numbers != 0, "memory");
    for (long i = 0; i < count; i++) {
        numbers[i] = 1;
    }
    pthread_barrier_init(&barrier, 0, threads);
    run_threads(threads, body);
    uint32_t last = numbers[count - 1];
    check(repetitions > 1 || last == count, "last sum");
    free(numbers);
    return result(last);
}
