// The size of a file is asked for, and read by another thread.
// expect: data-race
// says: stat
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/stat.h>

static struct stat status;
static volatile long copy;

static void *work(void *unused) {
    if (stat("/proc/self/exe", &status) != 0) return 0; // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = (long)status.st_size; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
