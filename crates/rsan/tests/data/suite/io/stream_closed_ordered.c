// A stream is closed while another thread prints to it, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static FILE *file;

static void *work(void *unused) {
    fputs("text", file);
    return unused;
}

int main(void) {
    pthread_t thread;
    if (!(file = fopen("/dev/null", "w"))) return 1;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    fclose(file);
    return 0;
}
