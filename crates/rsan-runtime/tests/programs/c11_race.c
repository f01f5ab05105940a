// findings: race
// Two C11 threads that nothing orders.
#include "turn.h"
#include <threads.h>

int shared;

static int first(void *_) {
    wait_for_turn(0);
    shared = 1;
    end_of_turn();
    return 0;
}

static int second(void *_) {
    wait_for_turn(1);
    shared = 2;
    return 0;
}

int main(void) {
    thrd_t one, two;
    if (thrd_create(&one, first, 0) || thrd_create(&two, second, 0)) abort();
    thrd_join(one, 0);
    thrd_join(two, 0);
    return 0;
}
