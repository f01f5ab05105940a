// A number is read from a text, whose next byte is changed by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static char text[] = "12x";
static volatile long number;

static void *work(void *unused) {
    number = strtol(text, 0, 10);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    text[2] = 'y';
    return 0;
}
