// Chase and Lev's deque with the orders of Le, Pop, Cohen and Zappa Nardelli, 2013. Bug: `push` lacks its release fence, and the
// pointer to a larger array is published and read relaxed. Race on the array's size, or a cell that is not filled yet.
#include "explore.h"
#include <stdlib.h>

typedef struct {
    long size;
    atomic_int cells[];
} Array;

enum { EMPTY = -1, LOST = -2, PUSHED = 3, TAKEN = 2 };

static atomic_long top, bottom;
static _Atomic(Array *) array;

static Array *make(long size) {
    Array *made = malloc(sizeof(Array) + (size_t)size * sizeof(atomic_int));
    made->size = size;
    for (long i = 0; i < size; i++) {
        atomic_init(&made->cells[i], 0);
    }
    return made;
}

static atomic_int *cell(Array *of, long index) {
    return &of->cells[index % of->size];
}

static void push(int task) {
    long b = atomic_load_explicit(&bottom, RELAXED);
    long t = atomic_load_explicit(&top, ACQUIRE);
    Array *a = atomic_load_explicit(&array, RELAXED);
    if (b - t >= a->size) {
        Array *larger = make(2 * a->size);
        for (long i = t; i < b; i++) {
            int moved = atomic_load_explicit(cell(a, i), RELAXED);
            atomic_store_explicit(cell(larger, i), moved, RELAXED);
        }
        atomic_store_explicit(&array, larger, NEEDS(RELEASE, RELAXED));
        a = larger;
    }
    atomic_store_explicit(cell(a, b), task, RELAXED);
#ifdef FIXED
    atomic_thread_fence(RELEASE);
#endif
    atomic_store_explicit(&bottom, b + 1, RELAXED);
}

static int take(void) {
    long b = atomic_load_explicit(&bottom, RELAXED) - 1;
    Array *a = atomic_load_explicit(&array, RELAXED);
    atomic_store_explicit(&bottom, b, RELAXED);
    atomic_thread_fence(SEQ_CST);
    long t = atomic_load_explicit(&top, RELAXED);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, RELAXED);
        return EMPTY;
    }
    int task = atomic_load_explicit(cell(a, b), RELAXED);
    if (t == b) {
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, SEQ_CST, RELAXED)) {
            task = EMPTY;
        }
        atomic_store_explicit(&bottom, b + 1, RELAXED);
    }
    return task;
}

static int steal(void) {
    long t = atomic_load_explicit(&top, ACQUIRE);
    atomic_thread_fence(SEQ_CST);
    long b = atomic_load_explicit(&bottom, ACQUIRE);
    if (t >= b) {
        return EMPTY;
    }
    Array *a = atomic_load_explicit(&array, NEEDS(ACQUIRE, RELAXED));
    int task = atomic_load_explicit(cell(a, t), RELAXED);
    bool won = atomic_compare_exchange_strong_explicit(&top, &t, t + 1, SEQ_CST, RELAXED);
    return won ? task : LOST;
}

static int stolen;

static void *thief(void *unused) {
    (void)unused;
    while ((stolen = steal()) == EMPTY) {
        sched_yield();
    }
    return NULL;
}

int main(void) {
    atomic_init(&array, make(2));
    pthread_t thread;
    pthread_create(&thread, NULL, thief, NULL);
    for (int i = 0; i < PUSHED; i++) {
        push(1 << i);
    }
    int sum = 0;
    for (int i = 0; i < TAKEN; i++) {
        int task = take();
        sum += task > 0 ? task : 0;
    }
    pthread_join(thread, NULL);
    assert(stolen != 0);
    sum += stolen > 0 ? stolen : 0;
    for (int task = take(); task != EMPTY; task = take()) {
        sum += task;
    }
    assert(sum == (1 << PUSHED) - 1);
    return 0;
}
