// The parts of a vector are filled by readv, and accessed by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2];
static char one[2], two[8];
static struct iovec parts[2] = {{one, 2}, {two, 8}};

static void *work(void *unused) {
    if (readv(ends[0], parts, 2) != 4) return 0;
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0 || write(ends[1], "abcd", 4) != 4) return 1;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    two[1] = 1;
    return 0;
}
