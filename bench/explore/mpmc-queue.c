// A bounded queue with counters of operations that have started and that are complete; two producers, two consumers, and one element from the
// start. Bug: a complete write is published relaxed, and a consumer takes its place with acquire only. Race on a slot.
#include "explore.h"

enum { SLOTS = 4, HALF = 16, MASK = 0xffff };

int slots[SLOTS], sums[2];
// Started: reads in the upper half, writes in the lower one.
static atomic_uint started, reads, writes;

static void wait_for(atomic_uint *complete, unsigned count) {
    while (atomic_load_explicit(complete, ACQUIRE) < count) {
        sched_yield();
    }
}

// The operation with this number is complete when all before it are.
static void complete(atomic_uint *operations, unsigned number, memory_order order) {
    wait_for(operations, number);
    atomic_fetch_add_explicit(operations, 1, order);
}

static void produce(int value) {
    unsigned was = atomic_load_explicit(&started, ACQUIRE);
    unsigned read, written;
    do {
        read = was >> HALF, written = was & MASK;
        if (written == read + SLOTS) {
            return;
        }
    } while (!atomic_compare_exchange_weak_explicit(&started, &was, read << HALF | (written + 1), ACQ_REL, ACQUIRE));
    if (written >= SLOTS) {
        wait_for(&reads, written - SLOTS + 1);
    }
    slots[written % SLOTS] = value;
    complete(&writes, written, NEEDS(RELEASE, RELAXED));
}

// Adds the next element to a sum, unless the queue is empty.
static bool consume(int *sum) {
    unsigned was = atomic_load_explicit(&started, ACQUIRE);
    unsigned read, written;
    do {
        read = was >> HALF, written = was & MASK;
        if (read == written) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&started, &was, was + (1u << HALF), NEEDS(ACQ_REL, ACQUIRE), ACQUIRE));
    wait_for(&writes, read + 1);
    *sum += slots[read % SLOTS];
    complete(&reads, read, RELEASE);
    return true;
}

static void *producer(void *number) {
    (void)number;
    produce(1);
    return NULL;
}

static void *consumer(void *number) {
    while (consume(&sums[*(int *)number % 2])) {
    }
    return NULL;
}

int main(void) {
    produce(17);
    void *(*bodies[MOST_THREADS])(void *) = {producer, producer, consumer, consumer};
    run(4, bodies);
    return 0;
}
