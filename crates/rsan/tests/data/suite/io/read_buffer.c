// A buffer is filled by read, and accessed by another thread.
// expect: data-race
// says: #0 read
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static int ends[2];
static char buffer[8];

static void *work(void *unused) {
    if (read(ends[0], buffer, 4) != 4) return 0; // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0 || write(ends[1], "abcd", 4) != 4) return 1;
    pthread_create(&thread, 0, work, 0);
    buffer[1] = 1; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
