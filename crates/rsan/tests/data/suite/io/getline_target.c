// A line is read, and its length is read by another thread.
// expect: data-race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static FILE *file;
static char *line;
static size_t room;
static volatile size_t copy;

static void *work(void *unused) {
    if (getline(&line, &room, file) < 0) return 0; // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    if (!(file = fopen("/proc/self/status", "r"))) return 1;
    pthread_create(&thread, 0, work, 0);
    copy = room; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
