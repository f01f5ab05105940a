// findings: none
// A mutex on the system's futex: waiting and waking order nothing, the atomic word does.
#define _GNU_SOURCE
#include "turn.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

// 0: open, 1: held, 2: held and somebody waits.
static atomic_uint word;
static int counter;

static void lock(void) {
    unsigned expected = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &expected, 1, memory_order_acquire, memory_order_relaxed)) return;
    while (atomic_exchange_explicit(&word, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}

static void unlock(void) {
    if (atomic_exchange_explicit(&word, 0, memory_order_release) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void *work(void *_) {
    for (int i = 0; i < 1000; i++) {
        lock();
        counter++;
        if (i % 100 == 0) usleep(1);
        unlock();
    }
    return 0;
}

int main(void) {
    RUN(work, work, work);
    return counter == 3000 ? 0 : 1;
}
