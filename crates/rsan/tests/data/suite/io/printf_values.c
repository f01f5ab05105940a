// Functions with any number of arguments get all of them: in registers, on the stack, and of every kind.
// expect: nothing
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static char text[256];

static void expect(const char *wanted) {
    if (strcmp(text, wanted) != 0) abort();
}

static int list(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return length;
}

int main(void) {
    int count, numbers[3];
    double fraction;
    char word[8], *made;
    sprintf(text, "%d %g %d %g %d %g %d %g %d %g", 1, .5, 2, 1.5, 3, 2.5, 4, 3.5, 5, 4.5);
    expect("1 0.5 2 1.5 3 2.5 4 3.5 5 4.5");
    snprintf(text, sizeof text, "%g %g %g %g %g %g %g %g %g %Lg %s%n", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.L, "end", &count);
    expect("1 2 3 4 5 6 7 8 9 10 end");
    if (count != (int)strlen(text) || list("%*d|%-*s|%ls|%c%%", 4, 12, 3, "a", L"wide", 'z') != 16) abort();
    expect("  12|a  |wide|z%");
    if (asprintf(&made, "%ld", -3L) != 2 || strcmp(made, "-3") != 0) abort();
    free(made);
    if (sscanf("1 2 abc 3 4.5", "%d%d%7s%d%lf%n", &numbers[0], &numbers[1], word, &numbers[2], &fraction, &count) != 5) abort();
    return numbers[2] == 3 && fraction == 4.5 && count == 13 && strcmp(word, "abc") == 0 ? 0 : 1;
}
