// Memory is unmapped that another thread has just written.
// expect: data-race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static char *memory;
static atomic_int done;

static void *writer(void *unused) {
    (void)unused;
    memory[5000] = 1; // <- data-race
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    int both = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    pthread_t thread;
    memory = mmap(0, 8192, both, flags, -1, 0);
    pthread_create(&thread, 0, writer, 0);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
    }
    munmap(memory, 8192); // <- data-race
    pthread_join(thread, 0);
    return 0;
}
