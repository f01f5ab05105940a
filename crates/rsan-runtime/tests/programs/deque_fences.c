// findings: none
// tsan: race
// A work-stealing deque as task schedulers have it: the owner publishes by a release fence, and owner and thief
// meet at seq_cst fences. The thief may use what the owner wrote into the task.
#include "turn.h"

enum { ROOM = 8 };
struct task { int input, output; };
static _Atomic(struct task *) ring[ROOM];
static atomic_long top, bottom;
static struct task tasks[4];

static void push(struct task *task) {
    long b = LOAD(bottom, relaxed);
    if (b - LOAD(top, acquire) >= ROOM) abort();
    STORE(ring[b % ROOM], task, relaxed);
    atomic_thread_fence(memory_order_release);
    STORE(bottom, b + 1, relaxed);
}

static struct task *pop(void) {
    long b = LOAD(bottom, relaxed) - 1;
    STORE(bottom, b, relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    long t = LOAD(top, relaxed);
    struct task *task = 0;
    if (t <= b) {
        task = LOAD(ring[b % ROOM], relaxed);
        if (t == b) {
            if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
                task = 0;
            STORE(bottom, b + 1, relaxed);
        }
    } else {
        STORE(bottom, b + 1, relaxed);
    }
    return task;
}

static struct task *steal(void) {
    long t = LOAD(top, acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long b = LOAD(bottom, acquire);
    if (t >= b) return 0;
    struct task *task = LOAD(ring[t % ROOM], relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed)) return 0;
    return task;
}

static void *owner(void *_) {
    wait_for_turn(0);
    for (int i = 0; i < 4; i++) {
        tasks[i].input = i + 1;
        push(&tasks[i]);
    }
    end_of_turn();
    wait_for_turn(2);
    struct task *task = pop();
    if (task != &tasks[3]) abort();
    task->output = task->input;
    end_of_turn();
    return 0;
}

static void *thief(void *_) {
    for (int i = 0; i < 3; i++) {
        wait_for_turn(i < 2 ? 1 : 3);
        struct task *task = steal();
        if (task != &tasks[i]) abort();
        task->output = task->input;
        if (i == 1) end_of_turn();
    }
    return 0;
}

int main(void) {
    RUN(owner, thief);
    return 0;
}
