// Message passing with relaxed orders: x86 keeps it right, weaker machines do not.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int data, flag;

static void *producer(void *unused) {
    atomic_store_explicit(&data, 42, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return unused;
}

static void *consumer(void *unused) {
    while (atomic_load_explicit(&flag, memory_order_relaxed) == 0)
        ;
    int value = atomic_load_explicit(&data, memory_order_relaxed);
    return value == 42 ? unused : NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, consumer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
