// A text is printed by puts, and changed by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static char text[] = "twelve";

static void *work(void *unused) {
    puts(text);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    text[2] = 'x';
    return 0;
}
