// findings: none
// A relaxed read-modify-write continues a release sequence.
#include "turn.h"

static atomic_int ready;
static int data, seen;

static void *writer(void *_) {
    wait_for_turn(0);
    data = 42;
    STORE(ready, 1, release);
    atomic_fetch_add_explicit(&ready, 1, memory_order_relaxed);
    end_of_turn();
    return 0;
}

static void *reader(void *_) {
    wait_for_turn(1);
    if (LOAD(ready, acquire) == 2) seen = data;
    return 0;
}

int main(void) {
    RUN(writer, reader);
    return seen == 42 ? 0 : 1;
}
