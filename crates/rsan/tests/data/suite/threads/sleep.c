// A sleep between two accesses is no order, and is said.
// expect: data-race
// says: only by the sleep of thread 1 at
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int data;
static atomic_int written;

static void *work(void *arg) {
    while (!atomic_load_explicit(&written, memory_order_relaxed)) {
    }
    usleep(1);
    data = 2; // <- data-race
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    data = 1; // <- data-race
    atomic_store_explicit(&written, 1, memory_order_relaxed);
    pthread_join(thread, 0);
    return 0;
}
