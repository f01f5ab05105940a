// findings: none
// waits: 1
// A wait that spins for a while and then sleeps on a futex until the value changes.
#include "spin.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int x;

static void *writer(void *_) {
    STORE(x, 1, relaxed);
    give_hint();
    return 0;
}

static void *waiter(void *_) {
    take_hint(1);
    for (int attempts = 0; LOAD(x, relaxed) == 0; attempts++)
        if (attempts >= 100) {
            syscall(SYS_futex, &x, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
            attempts = 0;
        }
    return 0;
}

int main(void) {
    RUN(writer, waiter);
    return 0;
}
