// findings: race race race race race race race race race
// Functions of the C library read and write for the program: each of these pairs races.
#define _GNU_SOURCE
#include "turn.h"
#include <string.h>
#include <unistd.h>

char text[9][64] = {"length", "compared", "copied", "appended", "searched", "duplicated", "filled", "read", "written"};
char other[64];
static int ends[2];

// Called through variables, so that the compiler puts nothing in their place.
static size_t (*volatile length)(const char *) = strlen;
static int (*volatile compare)(const char *, const char *) = strcmp;
static int (*volatile compare_part)(const char *, const char *, size_t) = strncmp;
static int (*volatile compare_memory)(const void *, const void *, size_t) = memcmp;
static char *(*volatile copy)(char *, const char *) = strcpy;
static char *(*volatile copy_part)(char *, const char *, size_t) = strncpy;
static char *(*volatile append)(char *, const char *) = strcat;
static char *(*volatile search)(const char *, int) = strchr;
static char *(*volatile duplicate)(const char *) = strdup;
static void *(*volatile fill)(void *, int, size_t) = memset;
static void (*volatile clear)(void *, size_t) = bzero;

static void *use(void *_) {
    wait_for_turn(0);
    if (length(text[0]) != 6) abort();
    if (compare(text[1], "compared")) abort();
    copy(other, text[2]);
    append(other, text[3]);
    if (!search(text[4], 'h')) abort();
    free(duplicate(text[5]));
    if (compare_memory(text[6], "filled", 6)) abort();
    if (write(ends[1], text[7], 4) != 4) abort();
    if (compare_part(text[8], "written", 7)) abort();
    end_of_turn();
    return 0;
}

static void *change(void *_) {
    wait_for_turn(1);
    for (int i = 0; i < 6; i++) text[i][3] = 'x';
    fill(text[6], 0, 6);
    clear(text[7], 6);
    copy_part(text[8], "else", 5);
    return 0;
}

int main(void) {
    if (pipe(ends)) abort();
    RUN(use, change);
    return 0;
}
