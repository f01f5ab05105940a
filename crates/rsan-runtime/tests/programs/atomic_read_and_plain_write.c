// findings: race
// A plain write races with an atomic read; those after the join are ordered.
#include "turn.h"

static atomic_int shared;
static int seen;

static void *reader(void *_) {
    wait_for_turn(0);
    seen = LOAD(shared, seq_cst);
    end_of_turn();
    return 0;
}

static void *writer(void *_) {
    wait_for_turn(1);
    *(int *)&shared = 1;
    return 0;
}

int main(void) {
    RUN(reader, writer);
    *(int *)&shared += 1;
    return LOAD(shared, relaxed) - 2 + seen;
}
