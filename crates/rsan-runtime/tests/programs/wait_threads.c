// findings: none
// waits: 100
// A hundred threads that all could see something stale, at the same time, while others allocate.
#include "spin.h"

enum { THREADS = 100 };

static atomic_int x, stop, taken;

static void *writer(void *_) {
    STORE(x, 1, relaxed);
    give_hint();
    return 0;
}

static void *allocates(void *_) {
    while (!LOAD(stop, acquire)) free(malloc(100 + rand() % 1000));
    return 0;
}

static void *waiter(void *_) {
    take_hint(1);
    while (LOAD(x, relaxed) == 0) sched_yield();
    int old = LOAD(taken, relaxed);
    while (!atomic_compare_exchange_weak(&taken, &old, old + 1));
    return 0;
}

int main(void) {
    pthread_t others[2], waiters[THREADS];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&others[i], 0, allocates, 0)) abort();
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&waiters[i], 0, waiter, 0)) abort();
    RUN(writer);
    for (int i = 0; i < THREADS; i++) pthread_join(waiters[i], 0);
    STORE(stop, 1, release);
    for (int i = 0; i < 2; i++) pthread_join(others[i], 0);
    return LOAD(taken, relaxed) == THREADS ? 0 : 1;
}
