// The ring of spsc-relaxed.c with acquire and release: each side may read an index of the other that is stale. It then
// looks fuller or emptier than it is, and the program is right with that. Such findings are notes.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

enum { SLOTS = 8, MESSAGES = 100 };

static int slots[SLOTS];
static atomic_uint head; // next to read
static atomic_uint tail; // next to write

static bool try_push(int value) {
    unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
    if (at - atomic_load_explicit(&head, memory_order_acquire) == SLOTS)
        return false;
    slots[at % SLOTS] = value;
    atomic_store_explicit(&tail, at + 1, memory_order_release);
    return true;
}

static bool try_pop(int *value) {
    unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
    if (at == atomic_load_explicit(&tail, memory_order_acquire))
        return false;
    *value = slots[at % SLOTS];
    atomic_store_explicit(&head, at + 1, memory_order_release);
    return true;
}

static void *produce(void *arg) {
    for (int i = 1; i <= MESSAGES; i++)
        while (!try_push(i))
            sched_yield();
    return arg;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    int sum = 0, value;
    for (int i = 0; i < MESSAGES; sum += value, i++)
        while (!try_pop(&value))
            sched_yield();
    pthread_join(producer, NULL);
    printf("sum %d\n", sum);
    return 0;
}
