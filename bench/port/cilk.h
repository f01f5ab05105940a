// The queue of Cilk-5 (Frigo, Leiserson and Randall, 1998): a worker pushes and pops at the tail, thieves
// steal at the head, under a lock. As in the paper, indices are counted up and down: on x86 these
// instructions are fences. FENCE() stands where a machine without that needs one.

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { SIZE = 64 };

static atomic_int head, tail, guard, tasks[SIZE];

static void lock(void) {
    while (atomic_exchange_explicit(&guard, 1, memory_order_acq_rel))
        ;
}

static void unlock(void) {
    atomic_store_explicit(&guard, 0, memory_order_release);
}

// Takes the newest task; 0 if there is none.
static int pop(void) {
    int t = atomic_fetch_sub_explicit(&tail, 1, memory_order_seq_cst) - 1;
    FENCE();
    if (atomic_load_explicit(&head, memory_order_relaxed) > t) {
        atomic_fetch_add_explicit(&tail, 1, memory_order_seq_cst);
        lock();
        atomic_fetch_sub_explicit(&tail, 1, memory_order_seq_cst);
        if (atomic_load_explicit(&head, memory_order_relaxed) > t) {
            atomic_fetch_add_explicit(&tail, 1, memory_order_seq_cst);
            unlock();
            return 0;
        }
        int task = atomic_load_explicit(&tasks[t % SIZE], memory_order_relaxed);
        unlock();
        return task;
    }
    return atomic_load_explicit(&tasks[t % SIZE], memory_order_relaxed);
}

static void push(int task) {
    int t = atomic_load_explicit(&tail, memory_order_relaxed);
    atomic_store_explicit(&tasks[t % SIZE], task, memory_order_relaxed);
    atomic_fetch_add_explicit(&tail, 1, memory_order_seq_cst);
}

// Takes the oldest task; 0 if there is none.
static int steal(void) {
    int task = 0;
    lock();
    int h = atomic_fetch_add_explicit(&head, 1, memory_order_seq_cst);
    FENCE();
    if (h + 1 > atomic_load_explicit(&tail, memory_order_relaxed))
        atomic_fetch_sub_explicit(&head, 1, memory_order_seq_cst);
    else
        task = atomic_load_explicit(&tasks[h % SIZE], memory_order_relaxed);
    unlock();
    return task;
}

static void *worker(void *unused) {
    push(1);
    return pop() ? unused : NULL;
}

static void *thief(void *unused) {
    return steal() ? unused : NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, thief, NULL);
    pthread_create(&threads[2], NULL, thief, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
