// findings: violation
// waits: 0
// A loop that gives up after a number of attempts, which a stale value may bring about.
#include "spin.h"

static atomic_int x;
static int gave_up;

static void *writer(void *_) {
    STORE(x, 1, relaxed);
    give_hint();
    return 0;
}

static void *waiter(void *_) {
    take_hint(1);
    int attempts = 0;
    while (LOAD(x, relaxed) == 0)
        if (++attempts == 100) {
            gave_up = 1;
            break;
        }
    return 0;
}

int main(void) {
    RUN(writer, waiter);
    return gave_up;
}
