// findings: violation
// waits: 0
// The same when the second location lets the thread through: it passes although it has not seen the first one change.
#include "spin.h"

static atomic_int flag = 1, turn = 1;
static int passed;

static void *writer(void *_) {
    STORE(flag, 0, relaxed);
    STORE(turn, 0, relaxed);
    give_hint();
    return 0;
}

static void *waiter(void *_) {
    take_hint(1);
    while (LOAD(flag, relaxed) && LOAD(turn, relaxed) == 1);
    passed = 1;
    return 0;
}

int main(void) {
    RUN(writer, waiter);
    return !passed;
}
