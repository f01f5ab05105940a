// A descriptor is closed while another thread waits for it by poll.
// expect: descriptor-race
// says: created by main thread
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *work(void *unused) {
    struct pollfd event = {ends[0], POLLIN, 0};
    poll(&event, 1, 0); // <- descriptor-race
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0) return 1;
    pthread_create(&thread, 0, work, 0);
    close(ends[0]); // <- descriptor-race
    pthread_join(thread, 0);
    return 0;
}
