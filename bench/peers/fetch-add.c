// Every thread increments once; the executions are the orders of the increments: THREADS!.
#include "peers.h"

static atomic_int counter;

static void *body(void *number) {
    (void)number;
    atomic_fetch_add_explicit(&counter, 1, RELAXED);
    return NULL;
}

int main(void) {
    run_all(THREADS, body);
    assert(atomic_load_explicit(&counter, RELAXED) == THREADS);
    return 0;
}
