// The time is asked for, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static struct timespec now;
static volatile long copy;

static void *work(void *unused) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = now.tv_nsec;
    return 0;
}
