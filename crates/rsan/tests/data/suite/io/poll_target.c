// What became of descriptors is written by poll, and read by another thread.
// expect: data-race
// says: #0 poll
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>

static struct pollfd events[2] = {{-1, POLLIN, 0}, {-1, POLLIN, 0}};
static volatile int copy;

static void *work(void *unused) {
    poll(events, 2, 0); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = events[1].revents; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
