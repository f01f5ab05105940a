// The work-stealing deque of Chase and Lev with fences: one owner, the others steal. Arguments: threads, items.
#include "bench.h"

enum { SIZE = 1024 };

static atomic_ulong tasks[SIZE];
static _Alignas(LINE) atomic_long top = 1;
static _Alignas(LINE) atomic_long bottom = 1;
static atomic_ulong total;
static atomic_int done;
static long items;

// The owner's own copy of the top, read again, after a fence, only when the deque looks full.
static long known_top = 1;

static int push(unsigned long task) {
    long b = atomic_load_explicit(&bottom, RELAXED);
    if (b - known_top >= SIZE) {
        atomic_thread_fence(SEQ_CST);
        known_top = atomic_load_explicit(&top, ACQUIRE);
        if (b - known_top >= SIZE) {
            return 0;
        }
    }
    atomic_store_explicit(&tasks[b % SIZE], task, RELAXED);
    atomic_store_explicit(&bottom, b + 1, RELEASE);
    return 1;
}

static unsigned long take(void) {
    long b = atomic_load_explicit(&bottom, RELAXED) - 1;
    atomic_store_explicit(&bottom, b, RELEASE);
    atomic_thread_fence(SEQ_CST);
    long t = atomic_load_explicit(&top, ACQUIRE);
    unsigned long task = 0;
    if (t <= b) {
        task = atomic_load_explicit(&tasks[b % SIZE], RELAXED);
        if (t < b) {
            return task;
        }
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, ACQ_REL, ACQUIRE)) {
            task = 0;
        }
    }
    atomic_store_explicit(&bottom, b + 1, RELEASE);
    return task;
}

static unsigned long steal(void) {
    atomic_thread_fence(SEQ_CST);
    long t = atomic_load_explicit(&top, ACQUIRE);
    atomic_thread_fence(SEQ_CST);
    long b = atomic_load_explicit(&bottom, ACQUIRE);
    if (t >= b) {
        return 0;
    }
    unsigned long task = atomic_load_explicit(&tasks[t % SIZE], ACQUIRE);
    atomic_thread_fence(SEQ_CST);
    return atomic_compare_exchange_strong_explicit(&top, &t, t + 1, ACQ_REL, ACQUIRE) ? task : 0;
}

static void own(void) {
    unsigned long sum = 0, task;
    for (long i = 1; i <= items; i++) {
        while (!push(i)) {
            sum += take();
        }
        if (i % 4 == 0) {
            sum += take();
        }
    }
    while ((task = take())) {
        sum += task;
    }
    atomic_fetch_add_explicit(&total, sum, ACQ_REL);
    atomic_store_explicit(&done, 1, RELEASE);
}

static void body(int thread) {
    if (thread == 0) {
        own();
        return;
    }
    unsigned waits = 0;
    unsigned long sum = 0;
    while (!atomic_load_explicit(&done, ACQUIRE)) {
        unsigned long task = steal();
        sum += task;
        if (task) {
            waits = 0;
        } else {
            relax(&waits);
        }
    }
    atomic_fetch_add_explicit(&total, sum, ACQ_REL);
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    items = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    unsigned long sum = atomic_load(&total);
    check(sum == (unsigned long)items * (items + 1) / 2, "sum");
    return result(sum);
}
