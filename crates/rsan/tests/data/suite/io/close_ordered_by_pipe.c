// A descriptor is closed by who has read that it is not used any more.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *work(void *unused) {
    if (write(ends[1], "x", 1) != 1) return 0;
    return unused;
}

int main(void) {
    pthread_t thread;
    char byte;
    if (pipe(ends) != 0) return 1;
    pthread_create(&thread, 0, work, 0);
    if (read(ends[0], &byte, 1) != 1) return 1;
    close(ends[1]);
    pthread_join(thread, 0);
    close(ends[0]);
    return 0;
}
