// A program that sets itself up before it starts its first thread, in every way that a later snapshot has to know of, and destroys all of it behind that. Its status is the number of
// times that it was set up, or 200 and more if a thread does not find what was set up.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, BLOCKS = 4000, BYTES = 256, LARGE = 1 << 20 };

// Memory that is not put back.
static atomic_int *setups;
static char *blocks[BLOCKS], *large, *mapped;
static void *end_of_heap;
static int global;
static atomic_int turns, status;

__attribute__((constructor)) static void prepare(void) {
    setups = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void handle(int signal) { (void)signal; }
static void handle_otherwise(int signal) { (void)signal; }

static void set_up(void) {
    atomic_fetch_add(setups, 1);
    global = 1;
    // More than the heap of the system had.
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BYTES);
        memset(blocks[i], i, BYTES);
    }
    large = malloc(LARGE);
    memset(large, 7, LARGE);
    mapped = mmap(0, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 9, 4 * PAGE);
    struct sigaction action = {.sa_handler = handle};
    if (sigaction(SIGUSR1, &action, 0)) abort();
    end_of_heap = sbrk(0);
}

static int what_is_there(void) {
    struct sigaction action;
    if (global != 1) return 200;
    for (int i = 0; i < BLOCKS; i++)
        for (int k = 0; k < BYTES; k++)
            if (blocks[i][k] != (char)i) return 201;
    for (int i = 0; i < LARGE; i++)
        if (large[i] != 7) return 202;
    for (int i = 0; i < 4 * PAGE; i++)
        if (mapped[i] != 9) return 203;
    if (sigaction(SIGUSR1, 0, &action) || action.sa_handler != handle) return 204;
    if (sbrk(0) != end_of_heap) return 205;
    return 0;
}

// Nothing is left of it, and the heap of the system gives its end back.
static void destroy(void) {
    global = 2;
    for (int i = BLOCKS - 1; i >= 0; i--) {
        memset(blocks[i], 1, BYTES);
        free(blocks[i]);
    }
    large[0] = 1;
    free(large);
    mapped[PAGE] = 1;
    munmap(mapped, 4 * PAGE);
    struct sigaction action = {.sa_handler = handle_otherwise};
    if (sigaction(SIGUSR1, &action, 0)) abort();
    sbrk(-PAGE);
    memset(malloc(LARGE / 8), 2, LARGE / 8);
}

static void *work(void *unused) {
    if (atomic_fetch_add(&turns, 1) == 0) {
        atomic_store(&status, what_is_there());
        destroy();
    }
    return unused;
}

int main(void) {
    set_up();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], 0, work, 0)) abort();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return status ? status : atomic_load(setups);
}
