// `clone` without shared memory is a fork: its children go on while a thread of the parent is inside the runtime.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* libc's own locks are as the parent had them, so that the child must not allocate or create a thread. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop, value;
static char stack[1 << 18] __attribute__((aligned(16)));

static void *nothing(void *argument) { return argument; }

static void *create(void *argument) {
    while (!atomic_load(&stop)) {
        pthread_t thread;
        pthread_create(&thread, 0, nothing, 0);
        pthread_join(thread, 0);
    }
    return argument;
}

static int child(void *argument) {
    (void)argument;
    pthread_mutex_lock(&mutex);
    atomic_fetch_add(&value, 1);
    pthread_mutex_unlock(&mutex);
    _exit(7);
}

int main(void) {
    pthread_t thread;
    int good = 0;
    pthread_create(&thread, 0, create, 0);
    for (int i = 0; i < 50; i++) {
        int status, pid = clone(child, stack + sizeof stack, SIGCHLD, 0);
        waitpid(pid, &status, 0);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
    atomic_store(&stop, 1);
    pthread_join(thread, 0);
    return good == 50 ? 0 : 1;
}
