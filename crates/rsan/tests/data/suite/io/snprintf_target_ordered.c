// A text is formatted, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static char text[32];
static volatile int length;

static void *work(void *unused) {
    snprintf(text, sizeof text, "%s %d %g", "a", 12, 1.5);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    length = text[5];
    return 0;
}
