// findings: none
// Blocks that begin and end their lives in many ways, all of them right: one thread frees what another has allocated, and
// memory is used again.
#define _GNU_SOURCE
#include "turn.h"
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>

enum { BLOCKS = 64 };
static _Atomic(char *) handed[BLOCKS];

static void *give(void *_) {
    for (int i = 0; i < BLOCKS; i++) {
        char *block = malloc(16 + 40 * i);
        memset(block, i, 16);
        STORE(handed[i], block, release);
    }
    return 0;
}

static void *take(void *_) {
    for (int i = 0; i < BLOCKS; i++) {
        char *block;
        while (!(block = LOAD(handed[i], acquire))) sched_yield();
        if (block[15] != i) abort();
        block = realloc(block, i % 2 ? 4096 : 8);
        block[7]++;
        free(block);
    }
    return 0;
}

/// What does not become larger stays what it was.
static void grow_in_vain(void) {
    volatile size_t too_much = PTRDIFF_MAX;
    char *block = malloc(10);
    block[0] = 1;
    if (realloc(block, too_much) || errno != ENOMEM) abort();
    block[1] = block[0];
    free(block);
}

int main(void) {
    RUN(give, take);
    grow_in_vain();
    for (int i = 0; i < 1000; i++) {
        volatile char *block = i % 3 ? malloc(24) : calloc(1, 24);
        block[i % 24] = 1;
        free((void *)block);
    }
    free(NULL);
    char *large = malloc(8 << 20);
    large[4 << 20] = 1;
    free(large);
    malloc_trim(0);
    large = malloc(8 << 20);
    large[4 << 20] = 1;
    char *copy = strdup("copied");
    if (strlen(copy) != 6) abort();
    free(copy);
    free(large);
    return 0;
}
