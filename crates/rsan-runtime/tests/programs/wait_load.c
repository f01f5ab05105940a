// findings: none
// A load that could be stale, in a loop that a stale value keeps waiting.
#include "spin.h"

static atomic_int x;

static void *writer(void *_) {
    STORE(x, 1, relaxed);
    give_hint();
    return 0;
}

static void *waiter(void *_) {
    take_hint(1);
    while (LOAD(x, relaxed) == 0);
    return 0;
}

int main(void) {
    RUN(writer, waiter);
    return 0;
}
