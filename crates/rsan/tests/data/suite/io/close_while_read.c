// A descriptor is closed while another thread reads from it.
// expect: descriptor-race
// says: created by main thread
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *work(void *unused) {
    char byte;
    if (read(ends[0], &byte, 1) < 0) return 0; // <- descriptor-race
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1) return 1;
    pthread_create(&thread, 0, work, 0);
    close(ends[0]); // <- descriptor-race
    pthread_join(thread, 0);
    return 0;
}
