// findings: race
// Findings made before exec are not lost; the program that follows is not ours.
#include "turn.h"
#include <unistd.h>

int racy;

static void *first(void *_) {
    wait_for_turn(0);
    racy = 1;
    end_of_turn();
    return 0;
}

static void *second(void *_) {
    wait_for_turn(1);
    racy = 2;
    return 0;
}

int main(void) {
    RUN(first, second);
    execl("/bin/true", "true", (char *)0);
    return 1;
}
