// Writing to a pipe by pwritev2 comes before reading from it by preadv2.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

static char bytes[2][4];
static struct iovec parts[2] = {{bytes[0], 4}, {bytes[1], 4}};
static int ends[2], data;

static void *work(void *unused) {
    data = 1;
    if (pwritev2(ends[1], &parts[0], 1, -1, 0) != 4) abort();
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0) return 1;
    pthread_create(&thread, 0, work, 0);
    if (preadv2(ends[0], &parts[1], 1, -1, 0) != 4) return 1;
    int seen = data;
    pthread_join(thread, 0);
    return seen - 1;
}
