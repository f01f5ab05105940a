// findings: race
// A copy reads what another thread wrote.
#include "turn.h"
#include <string.h>

static char from[64], to[64];
static volatile unsigned long size = sizeof from;

static void *writer(void *_) {
    wait_for_turn(0);
    memset(from, 7, size);
    end_of_turn();
    return 0;
}

static void *reader(void *_) {
    wait_for_turn(1);
    memcpy(to, from, size);
    return 0;
}

int main(void) {
    RUN(writer, reader);
    return to[63] == 7 ? 0 : 1;
}
