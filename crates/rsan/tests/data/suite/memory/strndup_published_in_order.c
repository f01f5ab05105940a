// A copy of a text is given away by release and acquire.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(char *) shared;

static void *reader(void *unused) {
    (void)unused;
    char *block;
    while (!(block = atomic_load_explicit(&shared, memory_order_acquire))) {
    }
    return (void *)(long)block[1];
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    char *block = strndup("text", 2);
    atomic_store_explicit(&shared, block, memory_order_release);
    pthread_join(thread, 0);
    free(block);
    return 0;
}
