// What became of descriptors is written by poll, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>

static struct pollfd events[2] = {{-1, POLLIN, 0}, {-1, POLLIN, 0}};
static volatile int copy;

static void *work(void *unused) {
    poll(events, 2, 0);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = events[1].revents;
    return 0;
}
