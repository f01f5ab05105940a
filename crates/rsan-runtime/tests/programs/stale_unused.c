// findings: violation
// The stale pointer is not used: the program does the same with either.
#include "spin.h"

static long first, second;
static _Atomic(long *) shared = &first, hazard;

static void *writer(void *_) {
    atomic_exchange_explicit(&shared, &second, memory_order_acq_rel);
    LOAD(hazard, acquire);
    give_hint();
    return 0;
}

static void *reader(void *_) {
    take_hint(1);
    STORE(hazard, &first, release);
    (void)LOAD(shared, acquire);
    STORE(hazard, 0, release);
    return 0;
}

int main(void) {
    RUN(writer, reader);
    return 0;
}
