// Treiber's stack. Every thread pushes a node of its own and pops one; a node is pushed once, so no top comes back.
#include "peers.h"

// Nodes are numbered from 1; 0 is none.
static atomic_int top, next[THREADS + 1];
static int popped[THREADS];

static void push(int node) {
    int old = atomic_load_explicit(&top, ACQUIRE);
    do {
        atomic_store_explicit(&next[node], old, RELAXED);
    } while (!atomic_compare_exchange_strong_explicit(&top, &old, node, ACQ_REL, ACQUIRE));
}

static int pop(void) {
    int old = atomic_load_explicit(&top, ACQUIRE);
    int after;
    do {
        after = atomic_load_explicit(&next[old], RELAXED);
    } while (!atomic_compare_exchange_strong_explicit(&top, &old, after, ACQ_REL, ACQUIRE));
    return old;
}

static void *body(void *number) {
    int me = *(int *)number;
    push(me + 1);
    popped[me] = pop();
    return NULL;
}

int main(void) {
    run_all(THREADS, body);
    int sum = 0;
    for (int i = 0; i < THREADS; i++) {
        sum += popped[i];
    }
    assert(sum == THREADS * (THREADS + 1) / 2);
    return 0;
}
