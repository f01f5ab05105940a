// findings: none
// A thousand threads one after the other, joined or detached, some of which end themselves.
#include "turn.h"

static int counter;
static atomic_int running;

static void *joined(void *_) {
    counter++;
    if (counter % 2) pthread_exit(0);
    return 0;
}

static void *detached(void *_) {
    atomic_fetch_sub(&running, 1);
    return 0;
}

int main(void) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 1000; i++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, joined, 0)) abort();
        pthread_join(thread, 0);
        atomic_fetch_add(&running, 1);
        if (pthread_create(&thread, i % 2 ? &attr : 0, detached, 0)) abort();
        if (i % 2 == 0) pthread_detach(thread);
        while (atomic_load(&running)) sched_yield();
    }
    return counter == 1000 ? 0 : 1;
}
