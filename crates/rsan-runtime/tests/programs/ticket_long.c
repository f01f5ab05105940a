// findings: none
// waits: 200
// A ticket lock in a long run: the values are ever new, and the place is trusted after a while.
#include "spin.h"

static atomic_int next_ticket, serving, hints;

static void *worker(void *argument) {
    for (int i = 0; i < 200; i++) {
        wait_for_turn(2 * i + (argument != 0));
        if (argument && LOAD(hints, relaxed) != i + 1) abort();
        int ticket = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
        while (LOAD(serving, acquire) != ticket);
        STORE(serving, ticket + 1, release);
        if (!argument) STORE(hints, i + 1, relaxed);
        end_of_turn();
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], 0, worker, i ? &hints : 0)) abort();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return LOAD(serving, relaxed) == 400 ? 0 : 1;
}
