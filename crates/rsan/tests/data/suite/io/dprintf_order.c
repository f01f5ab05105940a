// Printing to a pipe by dprintf comes before reading from it.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2], data;

static void *work(void *unused) {
    data = 1;
    if (dprintf(ends[1], "%d", 7) != 1) abort();
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0) return 1;
    pthread_create(&thread, 0, work, 0);
    char byte;
    if (read(ends[0], &byte, 1) != 1) return 1;
    int seen = data;
    pthread_join(thread, 0);
    return seen - 1;
}
