// findings: race
// Fibers on one thread: switching orders them, unless it is asked not to; then two that follow each other race.
#include "turn.h"
#include <ucontext.h>

void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_set_fiber_name(void *fiber, const char *name);

enum { NO_SYNC = 1, STACK = 1 << 16 };
static ucontext_t contexts[3];
static void *fibers[3];
static int ordered, current;
int racy;

__attribute__((no_sanitize("thread"))) static void switch_to(int next, unsigned flags) {
    int from = current;
    current = next;
    __tsan_switch_to_fiber(fibers[next], flags);
    swapcontext(&contexts[from], &contexts[next]);
}

static void work(void) {
    int me = current;
    for (int i = 0; i < 10; i++) {
        ordered++;
        switch_to(me == 1 ? 2 : 0, 0);
    }
    racy = me;
    switch_to(me == 1 ? 2 : 0, NO_SYNC);
}

int main(void) {
    for (int round = 0; round < 50; round++) {
        fibers[0] = __tsan_get_current_fiber();
        for (int i = 1; i <= 2; i++) {
            getcontext(&contexts[i]);
            contexts[i].uc_stack.ss_sp = malloc(STACK);
            contexts[i].uc_stack.ss_size = STACK;
            makecontext(&contexts[i], work, 0);
            fibers[i] = __tsan_create_fiber(0);
            __tsan_set_fiber_name(fibers[i], "worker");
        }
        for (int i = 0; i < 10; i++) {
            ordered++;
            switch_to(1, 0);
        }
        if (ordered != 30 * (round + 1)) abort();
        if (round == 49) switch_to(1, NO_SYNC);
        for (int i = 1; i <= 2; i++) {
            __tsan_destroy_fiber(fibers[i]);
            free(contexts[i].uc_stack.ss_sp);
        }
    }
    return 0;
}
