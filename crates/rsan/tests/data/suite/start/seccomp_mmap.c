// A filter that refuses memory to the runtime, reserved or fresh, is named as the reason.
// expect: nothing
// status: 3
// says: the program's filter of system calls (seccomp) forbids mmap
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

static volatile char large[64 << 20];

int main(void) {
    if (filter(SYS_mprotect, SECCOMP_RET_ERRNO | 1) || filter(SYS_mmap, SECCOMP_RET_ERRNO | 1)) return 4;
    large[32 << 20] = 1;
    return 0;
}
