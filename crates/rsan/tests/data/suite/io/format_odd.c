// Formats that are cut off, number their arguments, or limit a text that has no end are no reason to fail.
// expect: nothing
// flags: -w
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static char bytes[3] = {'a', 'b', 'c'};
static const char *volatile cut = "end %", *volatile none;

int main(void) {
    char text[64], *made = 0;
    wchar_t wide[4];
    int number = 0;
    snprintf(text, sizeof text, cut);
    if (snprintf(text, sizeof text, "%2$s %1$d", 7, "x") != 3 || strcmp(text, "x 7") != 0) return 1;
    if (snprintf(text, sizeof text, "%.3s|%.*s", bytes, -1, "all") != 7 || strcmp(text, "abc|all") != 0) return 2;
    if (snprintf(0, 0, "%s", none) != 6 || snprintf(text, 1, "%s", "long") != 4 || text[0]) return 3;
    if (sscanf("word 12", "%ms %n", &made, &number) != 1 || strcmp(made, "word") != 0 || number != 5) return 4;
    free(made);
    if (sscanf("ab]c12", "%3[]ab]%*c%d", text, &number) != 2 || strcmp(text, "ab]") != 0 || number != 12) return 5;
    return sscanf("abc", "%3ls", wide) == 1 && wide[2] == L'c' && sscanf("", "%d", &number) == EOF ? 0 : 6;
}
