// A pinned order of two threads, by means that the sanitizer does not see, so that they order nothing for it.
#include <pthread.h>
#include <sched.h>

static volatile int main_is_done;

__attribute__((no_sanitize("thread"), noinline, unused)) static void wait_for_main(void) {
    while (!main_is_done) sched_yield();
}

__attribute__((no_sanitize("thread"), noinline, unused)) static void let_go(void) { main_is_done = 1; }

// The same for any number of steps.
static volatile int steps_done;

__attribute__((no_sanitize("thread"), noinline, unused)) static void wait_for(int steps) {
    while (steps_done < steps) sched_yield();
}

__attribute__((no_sanitize("thread"), noinline, unused)) static void step_done(void) { steps_done++; }
