// findings: none
// waits: 7
// Loads that could be stale, in loops that a stale value keeps waiting: bare, with a pause, with a counter of
// attempts, with growing pauses, with a fence, and with writes that change nothing.
#include "spin.h"
#include <poll.h>
#include <time.h>
#include <unistd.h>

static atomic_int bare, yields, sleeps, counts, backs_off, fenced, writes;
static volatile int waiting;

static void *writer(void *_) {
    STORE(bare, 1, relaxed);
    STORE(yields, 1, release);
    STORE(sleeps, 1, relaxed);
    STORE(counts, 1, relaxed);
    STORE(backs_off, 1, release);
    STORE(fenced, 1, relaxed);
    STORE(writes, 1, relaxed);
    give_hint();
    return 0;
}

static void back_off(int rounds) {
    for (volatile int i = 0; i < rounds; i++);
}

static void *waiter(void *_) {
    struct timespec moment = {0, 1};
    unsigned attempts = 0;
    int pause = 1;
    waiting = 1;
    take_hint(1);
    while (LOAD(bare, relaxed) == 0);
    while (LOAD(yields, relaxed) == 0) sched_yield();
    while (LOAD(sleeps, relaxed) == 0) {
        nanosleep(&moment, 0);
        usleep(1);
        poll(0, 0, 1);
    }
    while (LOAD(counts, relaxed) == 0) attempts++;
    while (LOAD(backs_off, relaxed) == 0) {
        back_off(pause);
        if (pause < 64) pause *= 2;
    }
    while (LOAD(fenced, relaxed) == 0) atomic_thread_fence(memory_order_acquire);
    while (LOAD(writes, relaxed) == 0) waiting = 1;
    return attempts == 0 && pause == 1 ? 0 : (abort(), NULL);
}

int main(void) {
    RUN(writer, waiter);
    return waiting == 1 ? 0 : 1;
}
