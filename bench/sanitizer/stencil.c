// Averages over neighbours in a grid, again and again, rows shared out, with barriers. Arguments: threads, size, steps.
#include "bench.h"

static float *grids[2];
static pthread_barrier_t barrier;
static int threads;
static long n, steps;

static void body(int thread) {
    for (long s = 0; s < steps; s++) {
        const float *from = grids[s % 2];
        float *to = grids[(s + 1) % 2];
        for (long y = 1 + thread; y < n - 1; y += threads) {
            for (long x = 1; x < n - 1; x++) {
                const float *at = from + y * n + x;
                to[y * n + x] = (at[-1] + at[1] + at[-n] + at[n]) / 4;
            }
        }
        pthread_barrier_wait(&barrier);
    }
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 1, 1, MAX_THREADS);
    n = argument(argc, argv, 2, 3, 10000);
    steps = argument(argc, argv, 3, 1, 1000000);
    for (int g = 0; g < 2; g++) {
        grids[g] = malloc(n * n * sizeof(float));
        check(grids[g] != 0, "memory");
        for (long i = 0; i < n * n; i++) {
            grids[g][i] = i % 16;
        }
    }
    pthread_barrier_init(&barrier, 0, threads);
    run_threads(threads, body);
    double sum = 0;
    for (long i = 0; i < n * n; i++) {
        sum += grids[steps % 2][i];
    }
    free(grids[0]);
    free(grids[1]);
    return result((unsigned long)sum);
}
