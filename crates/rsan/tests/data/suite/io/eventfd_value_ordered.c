// The value of an event counter is written by eventfd_read, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/eventfd.h>

static int counter;
static eventfd_t value;
static volatile int copy;

static void *work(void *unused) {
    if (eventfd_read(counter, &value) != 0) return 0;
    return unused;
}

int main(void) {
    pthread_t thread;
    if ((counter = eventfd(3, 0)) < 0) return 1;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = (int)value;
    return 0;
}
