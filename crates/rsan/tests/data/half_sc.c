// Store buffering, with seq_cst loads only.
#include "pinned.h"
#include <stdatomic.h>

static atomic_int x, y;

static void *second(void *unused) {
    wait_for_main();
    atomic_store_explicit(&y, 1, memory_order_release);
    atomic_load_explicit(&x, memory_order_seq_cst);
    return unused;
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, 0, second, 0)) return 2;
    atomic_store_explicit(&x, 1, memory_order_release);
    atomic_load_explicit(&y, memory_order_seq_cst);
    let_go();
    pthread_join(other, 0);
    return 0;
}
