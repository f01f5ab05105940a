// What the child of a `clone` without shared memory does wrong is found.
// expect: data-race
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter;
static char stack[1 << 18] __attribute__((aligned(16)));

static void *add(void *argument) {
    counter++; // <- data-race
    return argument;
}

static int child(void *argument) {
    (void)argument;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    _exit(0);
}

int main(void) {
    int status, pid = clone(child, stack + sizeof stack, SIGCHLD, 0);
    waitpid(pid, &status, 0);
    return status;
}
