// A child closes the descriptors that it has inherited, which a thread of its parent uses.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void *work(void *unused) {
    if (write(ends[1], "x", 1) != 1) return 0;
    return unused;
}

int main(void) {
    pthread_t thread;
    char byte;
    if (pipe(ends) != 0) return 1;
    pthread_create(&thread, 0, work, 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        close(ends[1]);
        _exit(0);
    }
    waitpid(child, 0, 0);
    pthread_join(thread, 0);
    if (read(ends[0], &byte, 1) != 1) return 1;
    return 0;
}
