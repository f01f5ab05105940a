// findings: race
// Jumps leave functions without their exits: a report after a million of them still knows its callers.
#include "turn.h"
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

enum { STACK = 1 << 16 };
static jmp_buf back;
static sigjmp_buf out;
static ucontext_t main_context, other_context;
int shared;

__attribute__((noinline)) static void deep(int depth) {
    if (depth == 0) longjmp(back, 1);
    deep(depth - 1);
    shared += 0 * depth;
}

static void on_signal(int signal) { siglongjmp(out, signal); }

__attribute__((noinline)) static void interrupted(void) {
    raise(SIGUSR1);
    abort();
}

static void on_other_stack(void) {
    for (;;) swapcontext(&other_context, &main_context);
}

__attribute__((noinline)) static void innermost(void) { shared = 1; }

static void *first(void *_) {
    wait_for_turn(0);
    innermost();
    end_of_turn();
    return 0;
}

static void *second(void *_) {
    static char stack[STACK];
    for (volatile int i = 0; i < 100000; i++)
        if (setjmp(back) == 0) deep(10);
    for (volatile int i = 0; i < 100; i++)
        if (sigsetjmp(out, 1) == 0) interrupted();
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = STACK;
    makecontext(&other_context, on_other_stack, 0);
    for (int i = 0; i < 100; i++) swapcontext(&main_context, &other_context);
    wait_for_turn(1);
    innermost();
    return 0;
}

int main(void) {
    signal(SIGUSR1, on_signal);
    RUN(first, second);
    return 0;
}
