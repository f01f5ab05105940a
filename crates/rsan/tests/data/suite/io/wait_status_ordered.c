// The status of a process is written by waitpid, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;
static int status;
static volatile int copy;

static void *work(void *unused) {
    waitpid(child, &status, 0);
    return unused;
}

int main(void) {
    pthread_t thread;
    if ((child = fork()) == 0) _exit(0);
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = status;
    return 0;
}
