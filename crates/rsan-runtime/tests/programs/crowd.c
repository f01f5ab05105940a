// findings: none
// A thousand threads at the same time, three times over; then memory does not grow any more.
#include "turn.h"
#include <string.h>

enum { CROWD = 1000, TIMES = 3 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int counter;

static long resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) abort();
    fclose(file);
    return pages / 256;
}

static void *member(void *_) {
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    pthread_barrier_wait(&barrier);
    return 0;
}

int main(void) {
    static pthread_t threads[CROWD];
    pthread_attr_t attr;
    long before = 0;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1 << 16);
    pthread_barrier_init(&barrier, 0, CROWD);
    for (int time = 0; time < TIMES; time++) {
        for (int i = 0; i < CROWD; i++)
            if (pthread_create(&threads[i], &attr, member, 0)) abort();
        for (int i = 0; i < CROWD; i++) pthread_join(threads[i], 0);
        if (time == 0) before = resident();
    }
    // Megabytes: more than the first crowd took is for the allocator's fragments.
    return counter == TIMES * CROWD && resident() < 2 * before + 64 ? 0 : 1;
}
