// A buffer is filled by read, and accessed by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static int ends[2];
static char buffer[8];

static void *work(void *unused) {
    if (read(ends[0], buffer, 4) != 4) return 0;
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0 || write(ends[1], "abcd", 4) != 4) return 1;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    buffer[1] = 1;
    return 0;
}
