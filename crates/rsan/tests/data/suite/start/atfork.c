// Handlers of a fork run in their order, and may use locks and atomics.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int steps;
static int data;

static void before(void) {
    pthread_mutex_lock(&mutex);
    atomic_fetch_add(&steps, 1);
}

static void after(void) {
    data++;
    atomic_fetch_add(&steps, 10);
    pthread_mutex_unlock(&mutex);
}

int main(void) {
    int status;
    pthread_atfork(before, after, after);
    int pid = fork();
    if (pid == 0) _exit(atomic_load(&steps));
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status) == 11 && atomic_load(&steps) == 11 ? 0 : 1;
}
