// Two threads close the same descriptor.
// expect: descriptor-race
// says: created by main thread
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int file;

static void *work(void *unused) {
    close(file); // <- descriptor-race
    return unused;
}

int main(void) {
    pthread_t thread;
    file = open("/dev/null", O_RDONLY);
    pthread_create(&thread, 0, work, 0);
    close(file); // <- descriptor-race
    pthread_join(thread, 0);
    return 0;
}
