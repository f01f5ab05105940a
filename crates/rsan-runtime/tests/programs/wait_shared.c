// findings: violation
// waits: 0
// A retry that writes to memory which other processes see: what it writes with a stale value does not get there.
#include "spin.h"
#include <sys/mman.h>

static atomic_int top;
static struct { atomic_int last, wrong; } *shared;

static void *writer(void *_) {
    atomic_fetch_add_explicit(&top, 1, memory_order_relaxed);
    give_hint();
    return 0;
}

static void *retrier(void *_) {
    take_hint(1);
    int old = LOAD(top, relaxed);
    do {
        if (old == 0) STORE(shared->wrong, 1, relaxed);
        STORE(shared->last, old, relaxed);
    } while (!atomic_compare_exchange_strong_explicit(&top, &old, old + 1, memory_order_relaxed, memory_order_relaxed));
    return 0;
}

int main(void) {
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    RUN(writer, retrier);
    return LOAD(shared->last, relaxed) == 1 && LOAD(shared->wrong, relaxed) == 0 ? 0 : 1;
}
