// findings: none
// Children that end at once: the signal that says so comes while the parent is still in `fork`.
#include "turn.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int ended;

static void child_ended(int _) { atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed); }

int main(void) {
    signal(SIGCHLD, child_ended);
    for (int i = 0; i < 300; i++) {
        pid_t pid = fork();
        if (pid == 0) _exit(LOAD(ended, relaxed) > i);
        int status = 1;
        while (waitpid(pid, &status, 0) != pid);
        if (status) abort();
    }
    return LOAD(ended, relaxed) == 0;
}
