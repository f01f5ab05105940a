// Two threads smooth a row of numbers, step by step. The barrier ends each step, but within a step a thread
// overwrites a number that its neighbour may still have to read.
#include <pthread.h>
#include <stdio.h>

enum { STEPS = 10 };

static pthread_barrier_t step_done;
static int row[2] = {0, 100};

static void *smooth(void *arg) {
    int me = *(int *)arg;
    for (int step = 0; step < STEPS; step++) {
        int neighbour = row[1 - me];
#ifdef FIXED
        pthread_barrier_wait(&step_done);
#endif
        row[me] = (row[me] + neighbour) / 2;
        pthread_barrier_wait(&step_done);
    }
    return NULL;
}

int main(void) {
    int names[2] = {0, 1};
    pthread_t threads[2];
    pthread_barrier_init(&step_done, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, smooth, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&step_done);
    printf("%d %d\n", row[0], row[1]);
    return 0;
}
