// A sequence lock whose reader does not keep its second look behind the data.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int sequence, first, second;

static void *writer(void *unused) {
    for (int round = 1; round <= 2; round++) {
        int before = atomic_load_explicit(&sequence, memory_order_relaxed);
        atomic_store_explicit(&sequence, before + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&first, round, memory_order_relaxed);
        atomic_store_explicit(&second, round, memory_order_relaxed);
        atomic_store_explicit(&sequence, before + 2, memory_order_release);
    }
    return unused;
}

static void *reader(void *unused) {
    for (int tries = 0; tries < 3; tries++) {
        int before = atomic_load_explicit(&sequence, memory_order_acquire);
        int a = atomic_load_explicit(&first, memory_order_relaxed);
        int b = atomic_load_explicit(&second, memory_order_relaxed);
        int after = atomic_load_explicit(&sequence, memory_order_relaxed);
        if (before == after && before % 2 == 0)
            return a == b ? unused : (void *)1;
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}
