// findings: race
// One thread frees what the other still uses.
#include "turn.h"

static int *block, seen;

static void *user(void *_) {
    wait_for_turn(0);
    seen = *block;
    end_of_turn();
    return 0;
}

static void *owner(void *_) {
    wait_for_turn(1);
    free(block);
    return 0;
}

int main(void) {
    block = malloc(sizeof *block);
    *block = 1;
    RUN(user, owner);
    return seen - 1;
}
