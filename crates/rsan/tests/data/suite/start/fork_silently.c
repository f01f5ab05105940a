// `_Fork`, which tells no handler, is a fork; so is `vfork`.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t _Fork(void);

static atomic_int stop, value;

static void *count(void *argument) {
    while (!atomic_load(&stop)) atomic_fetch_add(&value, 1);
    return argument;
}

int main(void) {
    pthread_t thread;
    int good = 0;
    pthread_create(&thread, 0, count, 0);
    for (int i = 0; i < 40; i++) {
        int status, pid = i % 2 ? vfork() : _Fork();
        if (pid == 0) {
            if (i % 2 == 0) atomic_fetch_add(&value, 1);
            _exit(7);
        }
        waitpid(pid, &status, 0);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
    atomic_store(&stop, 1);
    pthread_join(thread, 0);
    return good == 40 ? 0 : 1;
}
