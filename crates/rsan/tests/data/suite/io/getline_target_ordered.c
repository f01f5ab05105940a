// A line is read, and its length is read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static FILE *file;
static char *line;
static size_t room;
static volatile size_t copy;

static void *work(void *unused) {
    if (getline(&line, &room, file) < 0) return 0;
    return unused;
}

int main(void) {
    pthread_t thread;
    if (!(file = fopen("/proc/self/status", "r"))) return 1;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = room;
    return 0;
}
