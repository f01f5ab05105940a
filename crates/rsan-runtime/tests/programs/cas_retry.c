// findings: none
// waits: 6
// Retry loops: with a stale value the compare-and-swap fails on the current one and is tried again. Counters with
// the load outside and inside of the loop, a stack whose nodes are written before they are pushed, and popping.
#include "spin.h"

struct node {
    struct node *next;
    _Atomic(struct node *) link;
    int value;
};

static atomic_int outside, inside, weak, bits;
static struct node nodes[4], base;
static _Atomic(struct node *) top = &base, linked = &base;

static void push(struct node *node) {
    struct node *old = LOAD(top, relaxed);
    do
        node->next = old;
    while (!atomic_compare_exchange_weak_explicit(&top, &old, node, memory_order_acq_rel, memory_order_relaxed));
}

static void push_linked(struct node *node) {
    for (;;) {
        struct node *old = LOAD(linked, relaxed);
        atomic_store_explicit(&node->link, old, memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&linked, &old, node, memory_order_acq_rel, memory_order_relaxed))
            return;
    }
}

static struct node *pop(void) {
    struct node *old = LOAD(top, acquire);
    while (old && !atomic_compare_exchange_weak_explicit(&top, &old, old->next, memory_order_acq_rel,
                                                         memory_order_acquire));
    return old;
}

static void count(void) {
    int old = LOAD(outside, relaxed);
    while (!atomic_compare_exchange_weak_explicit(&outside, &old, old + 1, memory_order_relaxed, memory_order_relaxed));
    do
        old = LOAD(inside, relaxed);
    while (!atomic_compare_exchange_strong_explicit(&inside, &old, old + 1, memory_order_relaxed, memory_order_relaxed));
    old = 0;
    while (!atomic_compare_exchange_weak_explicit(&weak, &old, old + 1, memory_order_relaxed, memory_order_relaxed));
    old = LOAD(bits, relaxed);
    while (!(old & 4) &&
           !atomic_compare_exchange_weak_explicit(&bits, &old, old | 2, memory_order_relaxed, memory_order_relaxed));
}

static void *first(void *_) {
    count();
    count();
    for (int i = 0; i < 2; i++) {
        push(&nodes[i]);
        push_linked(&nodes[i]);
    }
    give_hint();
    return 0;
}

static void *second(void *_) {
    take_hint(1);
    count();
    for (int i = 2; i < 4; i++) {
        push_linked(&nodes[i]);
        push(&nodes[i]);
    }
    give_hint();
    return 0;
}

static void *third(void *_) {
    take_hint(2);
    for (int i = 3; i >= 0; i--)
        if (pop() != &nodes[i]) abort();
    return 0;
}

int main(void) {
    RUN(first, second, third);
    return LOAD(outside, relaxed) == 3 && LOAD(inside, relaxed) == 3 && LOAD(weak, relaxed) == 3 ? 0 : 1;
}
