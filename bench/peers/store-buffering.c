// Two flags, each raised by a thread that then looks at the other one. Relaxed: both may see nothing.
#include "peers.h"

#ifndef ORDER
#define ORDER RELAXED
#endif

static atomic_int flag[2];
static int seen[2];

static void *body(void *number) {
    int me = *(int *)number;
    atomic_store_explicit(&flag[me], 1, ORDER);
    seen[me] = atomic_load_explicit(&flag[1 - me], ORDER);
    return NULL;
}

int main(void) {
    run_all(2, body);
    assert(ORDER != SEQ_CST || seen[0] || seen[1]);
    return 0;
}
