// Sorted table behind a reader-writer lock: mostly look-ups. Arguments: threads, operations of each.
#include "bench.h"

enum { SIZE = 1024 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static unsigned long keys[SIZE], values[SIZE];
static atomic_ulong found;
static long operations;

static int find(unsigned long key) {
    int low = 0, high = SIZE;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (keys[middle] <= key) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void body(int thread) {
    uint32_t random = thread + 1;
    unsigned long hits = 0;
    for (long i = 0; i < operations; i++) {
        unsigned long key = next_random(&random) % (2 * SIZE);
        if (i % 16 == 0) {
            pthread_rwlock_wrlock(&lock);
            values[find(key)]++;
        } else {
            pthread_rwlock_rdlock(&lock);
            hits += keys[find(key)] == key;
        }
        pthread_rwlock_unlock(&lock);
    }
    atomic_fetch_add(&found, hits);
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    operations = argument(argc, argv, 2, 1, 1000000000);
    for (int i = 0; i < SIZE; i++) {
        keys[i] = 2 * i;
    }
    run_threads(threads, body);
    unsigned long sum = 0;
    for (int i = 0; i < SIZE; i++) {
        sum += values[i];
    }
    check(sum == (unsigned long)(threads * ((operations + 15) / 16)), "sum");
    return result(atomic_load(&found));
}
