// Writing to a pipe comes before moving what is in it by splice.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int others[2];
static int ends[2], data;

static void *work(void *unused) {
    data = 1;
    if (write(ends[1], "x", 1) != 1) abort();
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0 || pipe(others) != 0) return 1;
    pthread_create(&thread, 0, work, 0);
    if (splice(ends[0], 0, others[1], 0, 1, 0) != 1) return 1;
    int seen = data;
    pthread_join(thread, 0);
    return seen - 1;
}
