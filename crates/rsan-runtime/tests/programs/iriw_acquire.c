// findings: violation
// tsan: none
// Two readers that may see two writes in opposite orders, for nothing but seq_cst forbids it.
#include "turn.h"

static atomic_int x, y;

static void *write_x(void *_) {
    wait_for_turn(0);
    STORE(x, 1, release);
    end_of_turn();
    return 0;
}

static void *write_y(void *_) {
    wait_for_turn(2);
    STORE(y, 1, release);
    end_of_turn();
    return 0;
}

static void *x_first(void *_) {
    wait_for_turn(1);
    if (LOAD(x, acquire) != 1 || LOAD(y, acquire) != 0) abort();
    end_of_turn();
    return 0;
}

static void *y_first(void *_) {
    wait_for_turn(3);
    if (LOAD(y, acquire) != 1) abort();
    (void)LOAD(x, acquire);
    return 0;
}

int main(void) {
    RUN(write_x, write_y, x_first, y_first);
    return 0;
}
