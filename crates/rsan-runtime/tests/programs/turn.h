// A pinned schedule: turns are taken by means that the runtime does not see, so they order nothing for it.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int turn_now;

__attribute__((no_sanitize("thread"), noinline)) static void wait_for_turn(int turn) {
    while (turn_now != turn) sched_yield();
}

__attribute__((no_sanitize("thread"), noinline)) static void end_of_turn(void) {
    turn_now = turn_now + 1;
}

typedef void *(*body)(void *);

// Runs the bodies in threads of their own, all at the same time.
static inline void run(int count, const body *bodies) {
    pthread_t threads[8];
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], 0, bodies[i], 0)) abort();
    for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
}
#define RUN(...) run(sizeof((body[]){__VA_ARGS__}) / sizeof(body), (body[]){__VA_ARGS__})

#define LOAD(x, order) atomic_load_explicit(&x, memory_order_##order)
#define STORE(x, value, order) atomic_store_explicit(&x, value, memory_order_##order)
