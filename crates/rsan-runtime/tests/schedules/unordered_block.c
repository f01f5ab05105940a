// A block is handed to another thread without any order: whoever uses it does not come after its allocation.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int *_Atomic handed;

static void *give(void *_) {
    atomic_store_explicit(&handed, calloc(1, sizeof(atomic_int)), memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, give, 0);
    atomic_int *block;
    while (!(block = atomic_load_explicit(&handed, memory_order_relaxed))) {}
    atomic_fetch_add_explicit(block, 1, memory_order_relaxed);
    pthread_join(thread, 0);
    return 0;
}
