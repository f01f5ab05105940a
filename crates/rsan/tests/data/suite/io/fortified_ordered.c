// Functions that check how much room there is access memory, too, after the thread has ended.
// expect: nothing
// flags: -O2 -D_FORTIFY_SOURCE=2
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static char text[32];
static volatile unsigned bytes = 12;
static volatile int copy;

static void *work(void *unused) {
    sprintf(text, "%u", bytes);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = text[2];
    return 0;
}
