// The system call `clone` without shared memory is a fork.
// expect: nothing
#define _GNU_SOURCE
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* libc's own locks are as the parent had them, so that the child must not allocate or create a thread. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop, value;

static void *nothing(void *argument) { return argument; }

static void *create(void *argument) {
    while (!atomic_load(&stop)) {
        pthread_t thread;
        pthread_create(&thread, 0, nothing, 0);
        pthread_join(thread, 0);
    }
    return argument;
}

int main(void) {
    pthread_t thread;
    int good = 0;
    pthread_create(&thread, 0, create, 0);
    for (int i = 0; i < 50; i++) {
        int pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (pid == 0) {
            pthread_mutex_lock(&mutex);
            atomic_fetch_add(&value, 1);
            pthread_mutex_unlock(&mutex);
            _exit(7);
        }
        int status;
        waitpid(pid, &status, 0);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
    atomic_store(&stop, 1);
    pthread_join(thread, 0);
    return good == 50 ? 0 : 1;
}
