// findings: none
// Large mappings that one thread gives back and another gets at the same address: nothing of them is remembered.
#define _GNU_SOURCE
#include "turn.h"
#include <sys/mman.h>

enum { BYTES = 1 << 20 };
static char *place;

static void use(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    char *memory = mmap(place, BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory != place) abort();
    for (int i = 0; i < BYTES; i += 64) memory[i]++;
    munmap(memory, BYTES);
}

static void *first(void *_) {
    wait_for_turn(0);
    use();
    end_of_turn();
    return 0;
}

static void *second(void *_) {
    wait_for_turn(1);
    use();
    return 0;
}

int main(void) {
    place = mmap(0, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) abort();
    RUN(first, second);
    return 0;
}
