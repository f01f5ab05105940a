// Threads meet at a barrier of ThreadSanitizer's own tests, which orders nothing.
// expect: data-race
#include <pthread.h>

void __tsan_testonly_barrier_init(unsigned long long *, unsigned);
void __tsan_testonly_barrier_wait(unsigned long long *);

static unsigned long long barrier;
static int counter;

static void *second(void *unused) {
    (void)unused;
    __tsan_testonly_barrier_wait(&barrier);
    counter++; // <- data-race
    return 0;
}

int main(void) {
    pthread_t thread;
    __tsan_testonly_barrier_init(&barrier, 2);
    pthread_create(&thread, 0, second, 0);
    counter++; // <- data-race
    __tsan_testonly_barrier_wait(&barrier);
    pthread_join(thread, 0);
    return 0;
}
