// findings: race race race
// Every way to get memory begins a new life of it; giving it back while another thread uses it is a race.
#define _GNU_SOURCE
#include "turn.h"
#include <malloc.h>
#include <string.h>

enum { SIZE = 1000 };
static char *volatile shared[3];

static void *get(int how, void *old) {
    void *place = 0;
    switch (how) {
    case 0: return malloc(SIZE);
    case 1: return calloc(10, SIZE / 10);
    case 2: return realloc(old, SIZE);
    case 3: return reallocarray(old, 10, SIZE / 10);
    case 4: return aligned_alloc(64, SIZE);
    case 5: return memalign(128, SIZE);
    case 6: return valloc(SIZE);
    case 7: return pvalloc(SIZE);
    default: return posix_memalign(&place, 256, SIZE) ? 0 : place;
    }
}

static void *reuse(void *_) {
    for (int i = 0; i < 900; i++) {
        char *block = get(i % 9, i % 9 == 2 || i % 9 == 3 ? malloc(16) : 0);
        if (!block || malloc_usable_size(block) < SIZE) abort();
        memset(block, i, SIZE);
        free(block);
    }
    return 0;
}

static void *use(void *_) {
    wait_for_turn(0);
    for (int i = 0; i < 3; i++) shared[i][10] = 1;
    end_of_turn();
    return 0;
}

static void *give_back(void *_) {
    wait_for_turn(1);
    free(shared[0]);
    free(realloc(shared[1], 2 * SIZE));
    free(reallocarray(shared[2], 2, SIZE));
    return 0;
}

int main(void) {
    RUN(reuse, reuse, reuse);
    for (int i = 0; i < 3; i++) shared[i] = malloc(SIZE);
    RUN(give_back, use);
    return 0;
}
