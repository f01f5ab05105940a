// findings: none
// As fork_signals.c, by a system call that the program tells of.
#include "turn.h"
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void __sanitizer_syscall_pre_impl_fork(void);
void __sanitizer_syscall_post_impl_fork(long result);

static atomic_int ended;

static void child_ended(int _) { atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed); }

int main(void) {
    signal(SIGCHLD, child_ended);
    for (int i = 0; i < 300; i++) {
        __sanitizer_syscall_pre_impl_fork();
        long pid = syscall(SYS_fork);
        __sanitizer_syscall_post_impl_fork(pid);
        if (pid == 0) _exit(LOAD(ended, relaxed) > i);
        int status = 1;
        while (waitpid(pid, &status, 0) != pid);
        if (status) abort();
    }
    return LOAD(ended, relaxed) == 0;
}
