// Lamport's fast mutual exclusion (1987, algorithm 2) for any number of processes, without fences: right
// under SC only.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { PROCESSES = 2 };

static atomic_int first, second, trying[PROCESSES + 1], shared;

static void *process(void *argument) {
    int me = (int)(intptr_t)argument;
start:
    atomic_store_explicit(&trying[me], 1, memory_order_relaxed);
    atomic_store_explicit(&first, me, memory_order_relaxed);
    if (atomic_load_explicit(&second, memory_order_relaxed) != 0) {
        atomic_store_explicit(&trying[me], 0, memory_order_relaxed);
        while (atomic_load_explicit(&second, memory_order_relaxed) != 0)
            ;
        goto start;
    }
    atomic_store_explicit(&second, me, memory_order_relaxed);
    if (atomic_load_explicit(&first, memory_order_acquire) != me) {
        atomic_store_explicit(&trying[me], 0, memory_order_relaxed);
        for (int other = 1; other <= PROCESSES; other++)
            while (atomic_load_explicit(&trying[other], memory_order_relaxed))
                ;
        if (atomic_load_explicit(&second, memory_order_relaxed) != me) {
            while (atomic_load_explicit(&second, memory_order_relaxed) != 0)
                ;
            goto start;
        }
    }
    atomic_store_explicit(&shared, me, memory_order_relaxed);
    if (atomic_load_explicit(&shared, memory_order_relaxed) != me)
        abort();
    atomic_store_explicit(&second, 0, memory_order_release);
    atomic_store_explicit(&trying[me], 0, memory_order_release);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, process, (void *)1);
    pthread_create(&threads[1], NULL, process, (void *)2);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
