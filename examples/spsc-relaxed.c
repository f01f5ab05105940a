// A ring between one producer and one consumer. The producer publishes its index with a relaxed store, so the
// consumer may see the new index and the old slot.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { SLOTS = 8, MESSAGES = 100 };

#ifdef FIXED
enum { PUBLISH = memory_order_release };
#else
enum { PUBLISH = memory_order_relaxed };
#endif

static int slots[SLOTS];
static atomic_uint head; // next to read
static atomic_uint tail; // next to write

static void push(int value) {
    unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
    while (at - atomic_load_explicit(&head, memory_order_acquire) == SLOTS)
        sched_yield();
    slots[at % SLOTS] = value;
    atomic_store_explicit(&tail, at + 1, PUBLISH);
}

static int pop(void) {
    unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
    while (at == atomic_load_explicit(&tail, memory_order_acquire))
        sched_yield();
    int value = slots[at % SLOTS];
    atomic_store_explicit(&head, at + 1, memory_order_release);
    return value;
}

static void *produce(void *arg) {
    for (int i = 1; i <= MESSAGES; i++)
        push(i);
    return arg;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    int sum = 0;
    for (int i = 0; i < MESSAGES; i++)
        sum += pop();
    pthread_join(producer, NULL);
    printf("sum %d\n", sum);
    return 0;
}
