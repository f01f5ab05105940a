// findings: misuse misuse misuse misuse misuse misuse
// Blocks are used after their free, which happens before: plainly, atomically, by functions, in the same thread and in another.
#include "turn.h"
#include <string.h>

// Behind what the allocator itself needs of a free block.
struct pair {
    long rest[4];
    volatile int first, second;
};

static struct pair *pair;
static atomic_int *flag;
static char *volatile text, *volatile wall, *volatile grown;
static int seen;
static volatile int size = 24;

static void *other(void *_) {
    pair->first = 1;
    STORE(flag[8], 1, relaxed);
    return 0;
}

static void *owner(void *_) {
    free(pair);
    free(flag);
    seen = pair->second;
    seen += LOAD(flag[8], relaxed);
    return 0;
}

int main(void) {
    pair = malloc(sizeof *pair);
    flag = malloc(64);
    pair->first = pair->second = 1;
    STORE(flag[8], 0, relaxed);
    RUN(owner);
    RUN(other);
    text = malloc(200);
    memset(text, 'a', 199);
    text[199] = 0;
    wall = malloc(200);
    grown = realloc(text, 100000);
    if (grown == text) abort();
    seen += (int)strlen(text + 100);
    memset(text + 32, 'b', size);
    free(grown);
    free(wall);
    return 0;
}
