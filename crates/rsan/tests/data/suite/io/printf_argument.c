// A text is printed, and changed by another thread.
// expect: data-race
// says: #0 printf
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static char text[] = "twelve";

static void *work(void *unused) {
    printf("%d %g %s\n", 12, 1.5, text); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    text[2] = 'x'; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
