// Bounded buffer with two semaphores and a spin lock. Arguments: threads (half of them produce), items of each.
#include "bench.h"
#include <semaphore.h>

enum { SIZE = 64 };

static sem_t places, filled;
static pthread_spinlock_t lock;
static unsigned long ring[SIZE], written, taken, sum;
static long items;

static void body(int thread) {
    for (long i = 0; i < items; i++) {
        if (thread % 2 == 0) {
            sem_wait(&places);
            pthread_spin_lock(&lock);
            ring[written++ % SIZE] = i;
            pthread_spin_unlock(&lock);
            sem_post(&filled);
        } else {
            sem_wait(&filled);
            pthread_spin_lock(&lock);
            sum += ring[taken++ % SIZE];
            pthread_spin_unlock(&lock);
            sem_post(&places);
        }
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 2, MAX_THREADS) & ~1;
    items = argument(argc, argv, 2, 1, 1000000000);
    sem_init(&places, 0, SIZE);
    sem_init(&filled, 0, 0);
    pthread_spin_init(&lock, 0);
    run_threads(threads, body);
    check(sum == (unsigned long)(threads / 2) * items * (items - 1) / 2, "sum");
    return result(sum);
}
