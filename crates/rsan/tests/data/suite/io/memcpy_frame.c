// Bytes are copied by memcpy, and read by another thread.
// expect: data-race
// says: #0 memcpy
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

char from[64] = "text";
static char to[64];
static volatile unsigned bytes = 40;
static volatile int copy;

static void *work(void *unused) {
    memcpy(to, from, bytes); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = to[39]; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
