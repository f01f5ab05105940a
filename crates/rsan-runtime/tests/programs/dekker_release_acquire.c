// findings: violation
// tsan: none
// Dekker's entry with release and acquire: each may miss the other's flag, and both enter. No run shows a race.
#include "turn.h"

static atomic_int wants[2];
static int counter, entered;

static void enter(int me) {
    STORE(wants[me], 1, release);
    if (!LOAD(wants[1 - me], acquire)) {
        counter++;
        entered++;
        STORE(wants[me], 0, release);
    }
}

static void *first(void *_) {
    wait_for_turn(0);
    enter(0);
    end_of_turn();
    return 0;
}

static void *second(void *_) {
    wait_for_turn(1);
    enter(1);
    return 0;
}

int main(void) {
    RUN(first, second);
    return entered == 2 ? 0 : 1;
}
