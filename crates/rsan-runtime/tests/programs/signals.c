// findings: none
// Signals that interrupt the program anywhere, and a handler that allocates nothing but uses atomics.
#include "turn.h"
#include <signal.h>
#include <string.h>

static atomic_int signals, stop;

static void handler(int _) { atomic_fetch_add(&signals, 1); }

static void *work(void *_) {
    while (!atomic_load(&stop)) {
        char *block = malloc(100);
        memset(block, 1, 100);
        free(block);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handler);
    if (pthread_create(&thread, 0, work, 0)) abort();
    for (int i = 0; i < 1000; i++) {
        pthread_kill(thread, SIGUSR1);
        if (i % 10 == 0) sched_yield();
    }
    atomic_store(&stop, 1);
    pthread_join(thread, 0);
    return atomic_load(&signals) > 0 ? 0 : 1;
}
