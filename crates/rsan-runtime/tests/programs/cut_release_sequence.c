// findings: race
// tsan: none
// A relaxed store, also by the same thread, is no part of a release sequence in C++20.
#include "turn.h"

static atomic_int ready;
static int data, seen;

static void *writer(void *_) {
    wait_for_turn(0);
    data = 42;
    STORE(ready, 1, release);
    STORE(ready, 2, relaxed);
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
