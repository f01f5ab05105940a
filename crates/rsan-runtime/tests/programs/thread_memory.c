// findings: none
// Memory of ended threads is used again: stacks, thread-local variables, what keys pointed to; and a thread can get
// its stack from the program.
#define _GNU_SOURCE
#include "turn.h"
#include <string.h>
#include <sys/mman.h>

enum { STACK = 1 << 18 };
static __thread int local[64];
static pthread_key_t key;
static atomic_int live;

static void at_end(void *block) {
    memset(block, 2, 32);
    free(block);
}

static void *work(void *_) {
    volatile char frame[4096];
    for (unsigned i = 0; i < sizeof frame; i += 64) frame[i] = 1;
    for (int i = 0; i < 64; i++) local[i]++;
    if (local[0] != 1) abort();
    void *block = malloc(32);
    memset(block, 1, 32);
    pthread_setspecific(key, block);
    atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    return 0;
}

static void start(pthread_attr_t *attr, int wait) {
    pthread_t thread;
    atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    if (pthread_create(&thread, attr, work, 0)) abort();
    if (wait)
        pthread_join(thread, 0);
    else
        pthread_detach(thread);
}

int main(void) {
    pthread_attr_t own;
    pthread_key_create(&key, at_end);
    pthread_attr_init(&own);
    char *stack = mmap(0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_setstack(&own, stack, STACK);
    for (int i = 0; i < 100; i++) {
        start(0, i % 2);
        start(&own, 1);
        memset(stack, 0, STACK);
    }
    while (atomic_load_explicit(&live, memory_order_relaxed)) sched_yield();
    stack = mremap(stack, STACK, 2 * STACK, MREMAP_MAYMOVE);
    memset(stack, 1, 2 * STACK);
    munmap(stack, 2 * STACK);
    return 0;
}
