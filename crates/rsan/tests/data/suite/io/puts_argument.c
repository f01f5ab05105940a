// A text is printed by puts, and changed by another thread.
// expect: data-race
// says: #0 puts
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static char text[] = "twelve";

static void *work(void *unused) {
    puts(text); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    text[2] = 'x'; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
