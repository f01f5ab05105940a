// A handler makes a copy of the process, which goes on.
// expect: nothing
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t _Fork(void);

static atomic_int value;
static volatile sig_atomic_t good;

static void handle(int signal) {
    (void)signal;
    int status, pid = _Fork();
    if (pid == 0) {
        atomic_fetch_add(&value, 1);
        _exit(atomic_load(&value) == 1 ? 7 : 1);
    }
    waitpid(pid, &status, 0);
    good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

int main(void) {
    signal(SIGUSR1, handle);
    for (int i = 0; i < 5; i++) raise(SIGUSR1);
    return good == 5 ? 0 : 1;
}
