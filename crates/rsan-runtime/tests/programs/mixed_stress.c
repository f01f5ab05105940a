// findings: none
// Threads that access the same sixteen bytes in every size and place at the same time, while others allocate and free
// such memory, and a process forks.
#include "turn.h"
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

union words {
    __int128 wide;
    _Atomic uint64_t eight[2];
    _Atomic uint32_t four[4];
    _Atomic uint16_t two[8];
    _Atomic uint8_t one[16];
};

enum { ROUNDS = 2000 };
static _Alignas(16) union words shared;
static atomic_uint workers;

static void access_some(union words *at, unsigned random) {
    unsigned place = random >> 8;
    switch (random % 9) {
    case 0: __atomic_store_n(&at->wide, (__int128)random << 50, __ATOMIC_SEQ_CST); break;
    case 1: (void)__atomic_load_n(&at->wide, __ATOMIC_SEQ_CST); break;
    case 2: atomic_store(&at->eight[place % 2], random); break;
    case 3: (void)atomic_load(&at->eight[place % 2]); break;
    case 4: atomic_fetch_add(&at->four[place % 4], 1); break;
    case 5: (void)atomic_load(&at->four[place % 4]); break;
    case 6: atomic_exchange(&at->two[place % 8], (uint16_t)random); break;
    case 7: atomic_fetch_xor(&at->one[place % 16], 3); break;
    default: (void)atomic_load(&at->one[place % 16]); break;
    }
}

static void *work(void *_) {
    unsigned random = 1 + atomic_fetch_add(&workers, 1);
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1664525 + 1013904223;
        access_some(&shared, random >> 7);
        if (i % 10 == 0) {
            union words *own = aligned_alloc(16, 64 * sizeof *own);
            own[0].wide = own[63].wide = 0;
            for (int k = 0; k < 8; k++) access_some(&own[k % 2 * 63], random >> k);
            free(own);
        }
    }
    return 0;
}

static void *fork_some(void *_) {
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (unsigned k = 0; k < 100; k++) access_some(&shared, k * 7);
            _exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status) abort();
    }
    return 0;
}

int main(void) {
    RUN(work, work, work, fork_some);
    return 0;
}
