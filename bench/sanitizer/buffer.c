// Bounded buffer with a mutex and two condition variables. Arguments: threads (half of them produce), items of each.
#include "bench.h"

enum { SIZE = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static unsigned long ring[SIZE], written, taken, sum;
static long items;

static void body(int thread) {
    for (long i = 0; i < items; i++) {
        pthread_mutex_lock(&mutex);
        if (thread % 2 == 0) {
            while (written - taken == SIZE) {
                pthread_cond_wait(&not_full, &mutex);
            }
            ring[written++ % SIZE] = i;
            pthread_cond_signal(&not_empty);
        } else {
            while (written == taken) {
                pthread_cond_wait(&not_empty, &mutex);
            }
            sum += ring[taken++ % SIZE];
            pthread_cond_signal(&not_full);
        }
        pthread_mutex_unlock(&mutex);
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 2, MAX_THREADS) & ~1;
    items = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    check(sum == (unsigned long)(threads / 2) * items * (items - 1) / 2, "sum");
    return result(sum);
}
