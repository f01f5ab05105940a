// A block is used after it was made larger, and moved.
// expect: use-after-free
// flags: -w
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

char copy[16];

int main(void) {
    char *volatile block = malloc(16);
    memset(block, 0, 16);
    char *volatile larger = realloc(block, 1 << 20);
    copy[1] = block[1]; // <- use-after-free
    free(larger);
    return copy[0];
}
