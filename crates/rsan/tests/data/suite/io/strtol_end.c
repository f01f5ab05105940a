// A number is read from a text, whose next byte is changed by another thread.
// expect: data-race
// says: strtol
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static char text[] = "12x";
static volatile long number;

static void *work(void *unused) {
    number = strtol(text, 0, 10); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    text[2] = 'y'; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
