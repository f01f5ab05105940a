// findings: violation
// waits: 0
// The same, in a loop that a stale value lets through.
#include "spin.h"

static atomic_int x;

static void *writer(void *_) {
    STORE(x, 1, relaxed);
    give_hint();
    wait_for_turn(2);
    STORE(x, 2, relaxed);
    return 0;
}

static void *waiter(void *_) {
    take_hint(1);
    end_of_turn();
    while (LOAD(x, relaxed) == 1);
    return 0;
}

int main(void) {
    RUN(writer, waiter);
    return 0;
}
