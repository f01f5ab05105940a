// The size of a file is asked for, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/stat.h>

static struct stat status;
static volatile long copy;

static void *work(void *unused) {
    if (stat("/proc/self/exe", &status) != 0) return 0;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = (long)status.st_size;
    return 0;
}
