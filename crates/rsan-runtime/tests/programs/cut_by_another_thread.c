// findings: race
// tsan: none
// A relaxed store of another thread ends the release sequence: who reads it does not follow the release.
#include "turn.h"

static atomic_int ready;
static int data, seen;

static void *writer(void *_) {
    wait_for_turn(0);
    data = 42;
    STORE(ready, 1, release);
    end_of_turn();
    return 0;
}

static void *meddler(void *_) {
    wait_for_turn(1);
    STORE(ready, 2, relaxed);
    end_of_turn();
    return 0;
}

static void *reader(void *_) {
    wait_for_turn(2);
    if (LOAD(ready, acquire) == 2) seen = data;
    return 0;
}

int main(void) {
    RUN(writer, meddler, reader);
    return seen == 42 ? 0 : 1;
}
