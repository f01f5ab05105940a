// findings: violation
// A hazard pointer without its fence. The next store is the same with the stale pointer, but what it points to is read before.
#include "spin.h"

static long first = 1, second = 2;
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
    long seen = *LOAD(shared, acquire);
    STORE(hazard, 0, release);
    return (void *)seen;
}

int main(void) {
    RUN(writer, reader);
    return 0;
}
