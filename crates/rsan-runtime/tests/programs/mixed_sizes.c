// findings: none
// Atomic accesses of several sizes to the same memory: what is read by halves follows the writes to them, a whole
// follows both halves, and halves that only look stale are no finding.
#include "turn.h"
#include <stdint.h>

union word {
    _Atomic uint64_t whole;
    _Atomic uint32_t half[2];
    _Atomic uint8_t byte[8];
};
static union word by_half, by_whole, by_byte, exchanged, buffered[2];
static _Alignas(16) union { __int128 wide; _Atomic uint64_t half[2]; } pair;
static int data[8], seen[8];

static void store_wide(__int128 value) { __atomic_store_n(&pair.wide, value, __ATOMIC_RELEASE); }

static void *first(void *_) {
    wait_for_turn(0);
    // Read before it is written, by half: later accesses of the whole are cut.
    (void)LOAD(by_half.half[1], relaxed);
    (void)LOAD(pair.half[1], relaxed);
    data[0] = 1;
    STORE(by_half.whole, 1ull << 32, release);
    data[1] = 1;
    STORE(by_whole.half[0], 1, release);
    data[3] = 1;
    STORE(by_byte.byte[5], 1, release);
    data[4] = 1;
    STORE(exchanged.whole, 1, release);
    data[5] = 1;
    store_wide((__int128)1 << 64);
    STORE(buffered[0].half[0], 1, relaxed);
    (void)LOAD(buffered[1].whole, relaxed);
    end_of_turn();
    return 0;
}

static void *second(void *_) {
    wait_for_turn(1);
    data[2] = 1;
    STORE(by_whole.half[1], 1, release);
    atomic_fetch_add_explicit(&exchanged.half[0], 1, memory_order_relaxed);
    STORE(buffered[1].half[0], 1, relaxed);
    (void)LOAD(buffered[0].whole, relaxed);
    end_of_turn();
    return 0;
}

static void *third(void *_) {
    wait_for_turn(2);
    if (LOAD(by_half.half[1], acquire) == 1) seen[0] = data[0];
    if (LOAD(by_whole.whole, acquire) == ((1ull << 32) | 1)) seen[1] = data[1], seen[2] = data[2];
    if (LOAD(by_byte.whole, acquire) == 1ull << 40) seen[3] = data[3];
    if (LOAD(exchanged.whole, acquire) == 2) seen[4] = data[4];
    if (LOAD(pair.half[1], acquire) == 1) seen[5] = data[5];
    return 0;
}

int main(void) {
    RUN(first, second, third);
    for (int i = 0; i < 6; i++)
        if (!seen[i]) return i + 1;
    return 0;
}
