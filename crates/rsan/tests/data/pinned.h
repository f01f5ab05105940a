// A pinned order of two threads, by means that the sanitizer does not see, so that they order nothing for it.
#include <pthread.h>
#include <sched.h>

static volatile int main_is_done;

__attribute__((no_sanitize("thread"), noinline)) static void wait_for_main(void) {
    while (!main_is_done) sched_yield();
}

__attribute__((no_sanitize("thread"), noinline)) static void let_go(void) { main_is_done = 1; }
