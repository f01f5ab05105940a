// An atomic load of a block that was freed.
// expect: use-after-free
// flags: -w
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

char copy[16];

int main(void) {
    char *volatile block = malloc(16);
    memset(block, 0, 16);
    free(block);
    int seen = atomic_load((atomic_int *)block); // <- use-after-free
    (void)seen;
    return copy[0];
}
