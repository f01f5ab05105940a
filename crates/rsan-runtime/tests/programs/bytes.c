// findings: none
// Neighbouring bytes of one word, each with its own thread.
#include "turn.h"
#include <string.h>

static char bytes[8];
static struct { int a; short b; char c[2]; } parts;

static void *even(void *_) {
    for (int i = 0; i < 1000; i++) bytes[i % 4 * 2]++, parts.a++;
    return 0;
}

static void *odd(void *_) {
    for (int i = 0; i < 1000; i++) bytes[i % 4 * 2 + 1]++, parts.b++;
    memset(parts.c, 1, sizeof parts.c);
    return 0;
}

int main(void) {
    RUN(even, odd);
    return bytes[0] == (char)250 && parts.c[1] == 1 ? 0 : 1;
}
