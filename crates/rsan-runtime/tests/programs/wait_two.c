// findings: none
// waits: 1
// Waits for one of two locations, as in Peterson's algorithm: with the stale value of the first, and the value that the
// second has, the thread goes on waiting.
#include "spin.h"

static atomic_int flag = 1, turn = 1;

static void *writer(void *_) {
    STORE(flag, 0, relaxed);
    give_hint();
    return 0;
}

static void *waiter(void *_) {
    take_hint(1);
    while (LOAD(flag, relaxed) && LOAD(turn, relaxed) == 1);
    return 0;
}

int main(void) {
    RUN(writer, waiter);
    return 0;
}
