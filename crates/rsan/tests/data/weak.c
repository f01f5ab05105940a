// Store buffering. The order of the run is pinned by means that the sanitizer does not see.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int x, y;
static volatile int main_is_done;

__attribute__((no_sanitize("thread"), noinline)) static void wait_for_main(void) {
    while (!main_is_done) sched_yield();
}

__attribute__((no_sanitize("thread"), noinline)) static void let_go(void) { main_is_done = 1; }

static void *second(void *unused) {
    (void)unused;
    wait_for_main();
    atomic_store_explicit(&y, 1, memory_order_release);
    atomic_load_explicit(&x, memory_order_acquire);
    return 0;
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, 0, second, 0)) return 2;
    atomic_store_explicit(&x, 1, memory_order_release);
    atomic_load_explicit(&y, memory_order_acquire);
    let_go();
    pthread_join(other, 0);
    return 0;
}
