// findings: violation
// waits: 0
// A loop that prints. Nothing of what it would print with a stale value is seen.
#include "spin.h"
#include <string.h>
#include <unistd.h>

static atomic_int x;
static int ends[2];

static void *writer(void *_) {
    STORE(x, 1, relaxed);
    give_hint();
    return 0;
}

static void *waiter(void *_) {
    take_hint(1);
    while (LOAD(x, relaxed) == 0) {
        printf("still waiting\n");
        fflush(stdout);
    }
    return 0;
}

int main(void) {
    char text[100];
    if (pipe(ends) || dup2(ends[1], 1) < 0) return 2;
    RUN(writer, waiter);
    printf("done\n");
    fflush(stdout);
    ssize_t bytes = read(ends[0], text, sizeof text);
    return bytes == 5 && !memcmp(text, "done\n", 5) ? 0 : 1;
}
