// The threads of a child of the system call `fork` race, not those of the parent.
// expect: data-race
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter;

static void *add(void *argument) {
    counter++; // <- data-race
    return argument;
}

int main(void) {
    pthread_t threads[2];
    int status, pid = syscall(SYS_fork);
    if (pid == 0) {
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    counter++;
    return status;
}
