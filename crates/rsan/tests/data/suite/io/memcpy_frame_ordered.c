// Bytes are copied by memcpy, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

char from[64] = "text";
static char to[64];
static volatile unsigned bytes = 40;
static volatile int copy;

static void *work(void *unused) {
    memcpy(to, from, bytes);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = to[39];
    return 0;
}
