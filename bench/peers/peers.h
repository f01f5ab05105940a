// What the programs of `cargo xtask bench peers` share. THREADS is defined before, where a program has several sizes.
// Data that locks protect is atomic and relaxed here, so that the Rust programs beside are the same.
#ifndef PEERS_H
#define PEERS_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef THREADS
#define THREADS 2
#endif

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#define ACQ_REL memory_order_acq_rel
#define SEQ_CST memory_order_seq_cst

enum { MOST_THREADS = 8 };

// Runs the bodies, each with its number, and waits for them.
static inline void run(int threads, void *(*const bodies[])(void *)) {
    static int numbers[MOST_THREADS];
    pthread_t handles[MOST_THREADS];
    for (int i = 0; i < threads; i++) {
        numbers[i] = i;
        pthread_create(&handles[i], NULL, bodies[i], &numbers[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(handles[i], NULL);
    }
}

// The same body for all.
static inline void run_all(int threads, void *(*body)(void *)) {
    void *(*bodies[MOST_THREADS])(void *);
    for (int i = 0; i < threads; i++) {
        bodies[i] = body;
    }
    run(threads, bodies);
}

#endif
