// A ring of two slots between one producer and one consumer, for three items.
#include "peers.h"

enum { SLOTS = 2, ITEMS = 3 };

static atomic_int slot[SLOTS], head, tail;

static void *producer(void *number) {
    (void)number;
    for (int i = 0; i < ITEMS; i++) {
        while (i - atomic_load_explicit(&head, ACQUIRE) == SLOTS) {
        }
        atomic_store_explicit(&slot[i % SLOTS], i + 1, RELAXED);
        atomic_store_explicit(&tail, i + 1, RELEASE);
    }
    return NULL;
}

static void *consumer(void *number) {
    (void)number;
    for (int i = 0; i < ITEMS; i++) {
        while (atomic_load_explicit(&tail, ACQUIRE) == i) {
        }
        assert(atomic_load_explicit(&slot[i % SLOTS], RELAXED) == i + 1);
        atomic_store_explicit(&head, i + 1, RELEASE);
    }
    return NULL;
}

int main(void) {
    run(2, (void *(*const[])(void *)){producer, consumer});
    return 0;
}
