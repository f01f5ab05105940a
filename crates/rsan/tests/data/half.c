// Store buffering with a fence in one thread only.
#include "pinned.h"
#include <stdatomic.h>

static atomic_int flag[2];

static void *second(void *unused) {
    wait_for_main();
    atomic_store_explicit(&flag[1], 1, memory_order_relaxed);
    atomic_load_explicit(&flag[0], memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, 0, second, 0)) return 2;
    atomic_store_explicit(&flag[0], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_load_explicit(&flag[1], memory_order_relaxed);
    let_go();
    pthread_join(other, 0);
    return 0;
}
