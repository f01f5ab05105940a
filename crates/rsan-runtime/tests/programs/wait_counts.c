// findings: violation
// waits: 0
// A loop that leaves something behind whenever it goes round: that is more than waiting.
#include "spin.h"

static atomic_int x;
static volatile int rounds;

static void *writer(void *_) {
    STORE(x, 1, relaxed);
    give_hint();
    return 0;
}

static void *waiter(void *_) {
    take_hint(1);
    while (LOAD(x, relaxed) == 0) rounds++;
    return 0;
}

int main(void) {
    RUN(writer, waiter);
    return rounds;
}
