// Memory of functions that wait is used by others; so is that of stacks which the program made itself, after their threads.
#include <alloca.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK = 1 << 18 };
static int *_Atomic place;
static atomic_int done;

static void *increment(void *at) {
    ++*(int *)at;
    return 0;
}

__attribute__((noinline)) static int lend(int size) {
    int variable[size], total = 0;
    int *further = alloca(size * sizeof(int));
    pthread_t threads[2];
    variable[0] = further[0] = 1;
    pthread_create(&threads[0], 0, increment, variable);
    pthread_create(&threads[1], 0, increment, further);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    total += variable[0] + further[0];
    return total;
}

static void *wait(void *_) {
    int local = 1;
    atomic_store(&place, &local);
    while (!atomic_load(&done)) {}
    return 0;
}

static void *stand(void *_) {
    char buffer[1000];
    memset(buffer, 1, sizeof buffer);
    return buffer[10] == 1 ? 0 : (void *)1;
}

static void on_own_stack(char *stack) {
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, STACK);
    pthread_create(&thread, &attr, stand, 0);
    pthread_join(thread, 0);
    pthread_attr_destroy(&attr);
    memset(stack, 0, STACK);
}

int main(void) {
    pthread_t thread;
    if (lend(100) != 4) abort();
    pthread_create(&thread, 0, wait, 0);
    while (!atomic_load(&place)) {}
    *atomic_load(&place) = 2;
    atomic_store(&done, 1);
    pthread_join(thread, 0);
    on_own_stack(aligned_alloc(4096, STACK));
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    on_own_stack(mmap(0, STACK, PROT_READ | PROT_WRITE, flags, -1, 0));
    for (int i = 0; i < 20; i++) {
        pthread_create(&thread, 0, stand, 0);
        pthread_join(thread, 0);
    }
    char *large = malloc(64 << 20);
    large[32 << 20] = 1;
    free(large);
    return 0;
}
