// Read-copy-update with quiescent states, where readers may go offline and come back; with the fences that
// x86 needs.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { OFFLINE = 2, ONLINE = 3, ROUNDS = 1000 };

static atomic_int current, phase, seen1, seen2, copies[2];

// Waits until a reader has seen the phase, or is offline.
static void wait_for(atomic_int *seen, int now) {
    int value = atomic_load_explicit(seen, memory_order_relaxed);
    while (value != now && value != OFFLINE)
        value = atomic_load_explicit(seen, memory_order_relaxed);
}

static void *writer(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store_explicit(&copies[1], 1, memory_order_relaxed);
        atomic_store_explicit(&current, 1, memory_order_relaxed);
        atomic_store_explicit(&phase, 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        wait_for(&seen1, 1);
        wait_for(&seen2, 1);
        atomic_store_explicit(&copies[0], 0, memory_order_relaxed);
        atomic_store_explicit(&copies[0], 1, memory_order_relaxed);
        atomic_store_explicit(&current, 0, memory_order_relaxed);
        atomic_store_explicit(&phase, 0, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        wait_for(&seen1, 0);
        wait_for(&seen2, 0);
        atomic_store_explicit(&copies[1], 0, memory_order_relaxed);
    }
    return unused;
}

static void *reader1(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        // A critical section: the copy that is current is not reused.
        int which = atomic_load_explicit(&current, memory_order_relaxed);
        if (atomic_load_explicit(&copies[which], memory_order_relaxed) != 1)
            abort();
        // A quiescent state.
        atomic_store_explicit(&seen1, atomic_load_explicit(&phase, memory_order_relaxed), memory_order_relaxed);
        // Offline, and back.
        atomic_store_explicit(&seen1, OFFLINE, memory_order_relaxed);
        atomic_store_explicit(&seen1, ONLINE, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
    }
    return unused;
}

static void *reader2(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        // A critical section: the copy that is current is not reused.
        int which = atomic_load_explicit(&current, memory_order_relaxed);
        if (atomic_load_explicit(&copies[which], memory_order_relaxed) != 1)
            abort();
        // A quiescent state.
        atomic_store_explicit(&seen2, atomic_load_explicit(&phase, memory_order_relaxed), memory_order_relaxed);
        // Offline, and back.
        atomic_store_explicit(&seen2, OFFLINE, memory_order_relaxed);
        atomic_store_explicit(&seen2, ONLINE, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader1, NULL);
    pthread_create(&threads[2], NULL, reader2, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
