// findings: race
// Two writers; the same pair of instructions is reported once.
#include "turn.h"

int counter;

__attribute__((noinline)) static void set_by_first(int value) { counter = value; }

__attribute__((noinline)) static void set_by_second(int value) { counter = value; }

static void *first(void *_) {
    wait_for_turn(0);
    for (int i = 0; i < 10; i++) set_by_first(i);
    end_of_turn();
    return 0;
}

static void *second(void *_) {
    wait_for_turn(1);
    for (int i = 0; i < 10; i++) set_by_second(i);
    return 0;
}

int main(void) {
    RUN(first, second);
    return 0;
}
