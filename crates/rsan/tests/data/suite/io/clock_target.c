// The time is asked for, and read by another thread.
// expect: data-race
// says: #0 clock_gettime
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static struct timespec now;
static volatile long copy;

static void *work(void *unused) {
    clock_gettime(CLOCK_MONOTONIC, &now); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = now.tv_nsec; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
