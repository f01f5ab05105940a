// A number is read from a text, and read by another thread.
// expect: data-race
// says: sscanf
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static int number;
static volatile int copy;

static void *work(void *unused) {
    if (sscanf("x 12 3", "%*s %*d %d", &number) != 1) return 0; // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = number; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
