// Phases that a barrier separates.
// expect: nothing
#include <pthread.h>
static pthread_barrier_t phase;
static int cells[2];

static void *work(void *own) {
    int me = *(int *)own;
    for (int round = 0; round < 20; round++) {
        cells[me]++;
        pthread_barrier_wait(&phase);
        if (cells[1 - me] != round + 1)
            return own;
        pthread_barrier_wait(&phase);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int names[2] = {0, 1};
    pthread_barrier_init(&phase, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&phase);
    return 0;
}
