// findings: none
// tsan: race
// Publication by fences, which TSan does not understand.
#include "turn.h"

static atomic_int ready;
static int data, seen;

static void *writer(void *_) {
    wait_for_turn(0);
    data = 42;
    atomic_thread_fence(memory_order_release);
    STORE(ready, 1, relaxed);
    end_of_turn();
    return 0;
}

static void *reader(void *_) {
    wait_for_turn(1);
    if (LOAD(ready, relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        seen = data;
    }
    return 0;
}

int main(void) {
    RUN(writer, reader);
    return seen == 42 ? 0 : 1;
}
