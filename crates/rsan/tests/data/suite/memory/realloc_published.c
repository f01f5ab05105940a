// A block that was made larger is given away without an order.
// expect: data-race
// options: allocations=1
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(char *) shared;

static void *reader(void *unused) {
    (void)unused;
    char *block;
    while (!(block = atomic_load_explicit(&shared, memory_order_relaxed))) {
    }
    return (void *)(long)block[1]; // <- data-race
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    char *block = realloc(malloc(8), 100); // <- data-race
    atomic_store_explicit(&shared, block, memory_order_relaxed);
    pthread_join(thread, 0);
    free(block);
    return 0;
}
