// Threads that create threads. At the end, `main` tells the addresses that each has had: of its stack, its memory, its
// thread-local variable, and its handle.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { THREADS = 7, WHAT = 4 };

static uintptr_t addresses[THREADS][WHAT];
static atomic_int in_between;
static _Atomic uintptr_t told;
static _Thread_local int own;

static void tell(int number) {
    int here;
    void *block = malloc(100);
    atomic_fetch_add(&in_between, 1);
    uintptr_t *mine = addresses[number];
    mine[0] = (uintptr_t)&here;
    mine[1] = (uintptr_t)block;
    mine[2] = (uintptr_t)&own;
    mine[3] = (uintptr_t)pthread_self();
    atomic_fetch_add(&in_between, 1);
    free(block);
}

static void *leaf(void *number) {
    tell((int)(intptr_t)number);
    return 0;
}

// Creates a thread when another one has ended.
static void *inner(void *number) {
    pthread_t first, second;
    int mine = (int)(intptr_t)number;
    pthread_create(&first, 0, leaf, (void *)(intptr_t)(mine + 1));
    pthread_join(first, 0);
    tell(mine);
    pthread_create(&second, 0, leaf, (void *)(intptr_t)(mine + 2));
    pthread_join(second, 0);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, inner, (void *)(intptr_t)(1 + 3 * i));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    tell(0);
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < WHAT; j++) atomic_store(&told, addresses[i][j]);
    return 0;
}
