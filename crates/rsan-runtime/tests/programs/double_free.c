// findings: misuse misuse misuse misuse
// What is freed was freed before, or is no block. The program goes on.
#include "turn.h"

static int variable;

static int *volatile places[3];

int main(void) {
    int local = 1;
    int *volatile block = malloc(100);
    *block = 1;
    free(block);
    free(block);
    places[0] = &variable;
    places[1] = &local;
    places[2] = (int *)malloc(100) + 8;
    free(places[0]);
    free(places[1]);
    free(places[2]);
    free(places[2] - 8);
    return 0;
}
