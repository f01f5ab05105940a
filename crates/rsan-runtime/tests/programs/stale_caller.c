// findings: violation
// The same store in the same function, which is called from elsewhere with the stale pointer.
#include "spin.h"

static long first, second;
static _Atomic(long *) shared = &first, hazard;

__attribute__((noinline)) static void leave(void) {
    STORE(hazard, 0, release);
}

static void *writer(void *_) {
    atomic_exchange_explicit(&shared, &second, memory_order_acq_rel);
    LOAD(hazard, acquire);
    give_hint();
    return 0;
}

static void *reader(void *_) {
    take_hint(1);
    STORE(hazard, &first, release);
    if (LOAD(shared, acquire) == &first) {
        // Two calls, which the compiler does not make one.
        __asm__ volatile("# before");
        leave();
        __asm__ volatile("# after");
        return &first;
    }
    leave();
    return 0;
}

int main(void) {
    RUN(writer, reader);
    return 0;
}
