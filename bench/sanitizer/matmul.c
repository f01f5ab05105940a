// Product of two square matrices, rows shared out. Arguments: threads, size.
#include "bench.h"

static double *a, *b, *c;
static int threads;
static long n;

static void body(int thread) {
    for (long i = thread; i < n; i += threads) {
        for (long j = 0; j < n; j++) {
            double sum = 0;
            for (long k = 0; k < n; k++) {
                sum += a[i * n + k] * b[k * n + j];
            }
            c[i * n + j] = sum;
        }
    }
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 1, 1, MAX_THREADS);
    n = argument(argc, argv, 2, 1, 10000);
    a = calloc(n * n, sizeof *a);
    b = calloc(n * n, sizeof *b);
    c = calloc(n * n, sizeof *c);
    check(a && b && c, "memory");
    for (long i = 0; i < n * n; i++) {
        a[i] = i % 7;
        b[i] = i % 5;
    }
    run_threads(threads, body);
    double sum = 0;
    for (long i = 0; i < n * n; i++) {
        sum += c[i];
    }
    free(a);
    free(b);
    free(c);
    return result((unsigned long)sum);
}
