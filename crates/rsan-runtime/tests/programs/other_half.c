// findings: race race
// Reading one half follows nothing that was written to the other.
#include "turn.h"
#include <stdint.h>

static union {
    _Atomic uint64_t whole;
    _Atomic uint32_t half[2];
} word;
static _Alignas(16) union { __int128 wide; _Atomic uint64_t half[2]; } pair;
int data[2], seen[2];

static void *writer(void *_) {
    wait_for_turn(0);
    STORE(word.whole, 0, release);
    __atomic_store_n(&pair.wide, (__int128)0, __ATOMIC_RELEASE);
    data[0] = data[1] = 1;
    STORE(word.half[0], 1, release);
    STORE(pair.half[0], 1, release);
    end_of_turn();
    return 0;
}

static void *reader(void *_) {
    wait_for_turn(1);
    if (LOAD(word.half[1], acquire) == 0) seen[0] = data[0];
    if (LOAD(pair.half[1], acquire) == 0) seen[1] = data[1];
    return 0;
}

int main(void) {
    RUN(writer, reader);
    return 0;
}
