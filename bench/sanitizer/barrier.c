// Sense-reversing barrier between phases that read what the others wrote. Arguments: threads, phases.
#include "bench.h"

static atomic_int arrived;
static atomic_int sense;
static unsigned long cells[2][MAX_THREADS];
static int threads;
static long phases;

static void wait_for_all(int *mine) {
    unsigned waits = 0;
    *mine = !*mine;
    if (atomic_fetch_add_explicit(&arrived, 1, ACQ_REL) == threads - 1) {
        atomic_store_explicit(&arrived, 0, RELAXED);
        atomic_store_explicit(&sense, *mine, RELEASE);
    } else {
        while (atomic_load_explicit(&sense, ACQUIRE) != *mine) {
            relax(&waits);
        }
    }
}

static void body(int thread) {
    int mine = 0;
    for (long i = 0; i < phases; i++) {
        unsigned long sum = 0;
        for (int other = 0; other < threads; other++) {
            sum += cells[i % 2][other];
        }
        cells[(i + 1) % 2][thread] = sum % 1000 + thread;
        wait_for_all(&mine);
    }
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 1, 1, MAX_THREADS);
    phases = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    unsigned long sum = 0;
    for (int i = 0; i < threads; i++) {
        sum += cells[phases % 2][i];
    }
    return result(sum);
}
