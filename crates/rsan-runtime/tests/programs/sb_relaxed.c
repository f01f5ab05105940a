// findings: violation
// tsan: none
// Store buffering, one thread after the other, relaxed.
#include "turn.h"

static atomic_int x, y;
static int r1, r2;

static void *left(void *_) {
    wait_for_turn(0);
    STORE(x, 1, relaxed);
    r1 = LOAD(y, relaxed);
    end_of_turn();
    return 0;
}

static void *right(void *_) {
    wait_for_turn(1);
    STORE(y, 1, relaxed);
    r2 = LOAD(x, relaxed);
    return 0;
}

int main(void) {
    RUN(left, right);
    return r1 == 0 && r2 == 1 ? 0 : 1;
}
