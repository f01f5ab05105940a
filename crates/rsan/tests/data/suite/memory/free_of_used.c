// A block is freed while another thread may still read it.
// expect: data-race
// says: the free of a heap block of 24 bytes allocated at
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static char *block;
static atomic_int done;

static void *reader(void *unused) {
    (void)unused;
    long seen = block[3]; // <- data-race
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return (void *)seen;
}

int main(void) {
    pthread_t thread;
    block = calloc(1, 24);
    pthread_create(&thread, 0, reader, 0);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
    }
    free(block); // <- data-race
    pthread_join(thread, 0);
    return 0;
}
