// The memory of a freed block is used again by the next one.
// expect: nothing
// flags: -w
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

char copy[16];

int main(void) {
    char *volatile block = malloc(16);
    memset(block, 0, 16);
    free(block);
    block = calloc(1, 16);
    copy[0] = block[0];
    free(block);
    return copy[0];
}
