// Peterson's lock for two threads, sequentially consistent.
#include "peers.h"

static atomic_int wants[2], turn, counter;

static void *body(void *number) {
    int me = *(int *)number;
    int other = 1 - me;
    atomic_store_explicit(&wants[me], 1, SEQ_CST);
    atomic_store_explicit(&turn, other, SEQ_CST);
    while (atomic_load_explicit(&wants[other], SEQ_CST) && atomic_load_explicit(&turn, SEQ_CST) == other) {
    }
    int before = atomic_load_explicit(&counter, RELAXED);
    atomic_store_explicit(&counter, before + 1, RELAXED);
    atomic_store_explicit(&wants[me], 0, SEQ_CST);
    return NULL;
}

int main(void) {
    run_all(2, body);
    assert(atomic_load_explicit(&counter, RELAXED) == 2);
    return 0;
}
