// Functions that check how much room there is access memory, too.
// expect: data-race
// flags: -O2 -D_FORTIFY_SOURCE=2
// says: #0 
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static char text[32];
static volatile unsigned bytes = 12;
static volatile int copy;

static void *work(void *unused) {
    sprintf(text, "%u", bytes); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = text[2]; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
