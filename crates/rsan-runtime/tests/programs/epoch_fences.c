// findings: none
// tsan: race
// Reclamation by epochs: a reader announces itself, a seq_cst fence, reads; the writer unlinks, a seq_cst fence, sees
// that nobody reads any more, an acquire fence, frees.
#include "turn.h"

struct node { int value; };
static _Atomic(struct node *) head;
static atomic_int reading;
static int seen;

static void *reader(void *_) {
    wait_for_turn(0);
    STORE(reading, 1, relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    struct node *node = LOAD(head, acquire);
    seen = node->value;
    atomic_thread_fence(memory_order_release);
    STORE(reading, 0, relaxed);
    end_of_turn();
    return 0;
}

static void *collector(void *_) {
    wait_for_turn(1);
    struct node *old = atomic_exchange_explicit(&head, 0, memory_order_acq_rel);
    atomic_thread_fence(memory_order_seq_cst);
    if (LOAD(reading, relaxed)) abort();
    atomic_thread_fence(memory_order_acquire);
    free(old);
    return 0;
}

int main(void) {
    struct node *node = malloc(sizeof *node);
    node->value = 3;
    STORE(head, node, release);
    RUN(reader, collector);
    return seen == 3 ? 0 : 1;
}
