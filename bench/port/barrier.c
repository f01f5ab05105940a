// A barrier for two threads: announce, then wait until the other one has announced.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int here0, here1;

static void *party0(void *unused) {
    atomic_store_explicit(&here0, 1, memory_order_relaxed);
    while (atomic_load_explicit(&here1, memory_order_relaxed) == 0)
        ;
    return unused;
}

static void *party1(void *unused) {
    atomic_store_explicit(&here1, 1, memory_order_relaxed);
    while (atomic_load_explicit(&here0, memory_order_relaxed) == 0)
        ;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, party0, NULL);
    pthread_create(&threads[1], NULL, party1, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
