// A stream is closed while another thread prints to it.
// expect: data-race
// says: #0 fclose
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static FILE *file;

static void *work(void *unused) {
    fputs("text", file); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    if (!(file = fopen("/dev/null", "w"))) return 1;
    pthread_create(&thread, 0, work, 0);
    fclose(file); // <- data-race
    pthread_join(thread, 0);
    return 0;
}
