// findings: none
// A counter under a mutex, with threads that really run at the same time.
#include "turn.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *count(void *_) {
    for (int i = 0; i < 2000; i++) {
        while (i % 3 == 0 && pthread_mutex_trylock(&mutex)) sched_yield();
        if (i % 3) pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}

int main(void) {
    RUN(count, count, count, count);
    return counter == 8000 ? 0 : 1;
}
