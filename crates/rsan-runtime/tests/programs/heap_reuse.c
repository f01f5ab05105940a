// findings: none
// Blocks that one thread frees and another gets: their histories have nothing to do with each other.
#include "turn.h"

static void *use(void *_) {
    for (int round = 0; round < 1000; round++) {
        int *plain = malloc(64);
        atomic_int *flags = calloc(4, sizeof(atomic_int));
        plain[round % 16] = round;
        STORE(flags[0], 1, relaxed);
        STORE(flags[1], LOAD(flags[0], relaxed), release);
        plain = realloc(plain, round % 2 ? 32 : 4096);
        plain[0] = LOAD(flags[1], acquire);
        free(flags);
        free(plain);
    }
    return 0;
}

int main(void) {
    RUN(use, use, use);
    return 0;
}
