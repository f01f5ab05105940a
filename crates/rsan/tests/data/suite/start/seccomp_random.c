// A filter of system calls that allows no random numbers does not disturb the runtime.
// expect: nothing
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Answers the system call so, and allows all others. */
static int filter(unsigned number, unsigned answer) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void *nothing(void *argument) { return argument; }

int main(void) {
    pthread_t threads[8];
    if (filter(SYS_getrandom, SECCOMP_RET_ERRNO | 1)) return 0;
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, nothing, 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
    return 0;
}
