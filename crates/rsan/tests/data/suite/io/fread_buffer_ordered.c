// A buffer is filled by fread, and accessed by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static FILE *file;
static char buffer[8];

static void *work(void *unused) {
    if (fread(buffer, 2, 2, file) != 2) return 0;
    return unused;
}

int main(void) {
    pthread_t thread;
    if (!(file = fopen("/proc/self/exe", "r"))) return 1;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    buffer[3] = 1;
    return 0;
}
