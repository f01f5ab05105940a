// A copy from a block that was freed.
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
    memcpy(copy, block, 16); // <- use-after-free
    return copy[0];
}
