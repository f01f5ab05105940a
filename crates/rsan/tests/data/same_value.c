// A load that may read an older write of the same value, and one that may read another.
#include "pinned.h"
#include <stdatomic.h>

static atomic_int same, other, y;

static void *look(void *unused) {
    wait_for(1);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_load_explicit(&same, memory_order_relaxed);
    atomic_load_explicit(&other, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, 0, look, 0)) return 2;
    atomic_store_explicit(&same, 0, memory_order_relaxed);
    atomic_store_explicit(&other, 1, memory_order_relaxed);
    atomic_load_explicit(&y, memory_order_relaxed);
    step_done();
    pthread_join(thread, 0);
    return 0;
}
