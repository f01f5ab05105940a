// The name of a folder is asked for, and read by another thread.
// expect: data-race
// says: getcwd
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static char path[4096];
static volatile int copy;

static void *work(void *unused) {
    if (!getcwd(path, sizeof path)) return 0; // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = path[0]; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
