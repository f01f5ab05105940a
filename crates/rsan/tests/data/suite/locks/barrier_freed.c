// The serial thread frees the barrier at once; what came before the barrier is still ordered for the others.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4 };
static int slots[THREADS], sums[THREADS];

static pthread_barrier_t *barrier;

static void *work(void *arg) {
    int me = (int)(long)arg;
    slots[me] = me;
    if (pthread_barrier_wait(barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_barrier_destroy(barrier);
        free(barrier);
    }
    for (int i = 0; i < THREADS; i++)
        sums[me] += slots[i];
    return 0;
}

int main(void) {
    for (int round = 0; round < 50; round++) {
        pthread_t threads[THREADS];
        barrier = malloc(sizeof *barrier);
        pthread_barrier_init(barrier, 0, THREADS);
        for (long i = 0; i < THREADS; i++)
            pthread_create(&threads[i], 0, work, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], 0);
    }
    return 0;
}
