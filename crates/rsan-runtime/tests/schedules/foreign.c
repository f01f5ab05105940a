// A thread waits in a system call that the runtime does not know, for something that another thread does.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ends[2];
static atomic_int before;

static void *writer(void *_) {
    for (int i = 0; i < 10; i++) atomic_fetch_add(&before, 1);
    if (write(ends[1], "x", 1) != 1) _exit(2);
    return _;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends)) return 2;
    pthread_create(&thread, 0, writer, 0);
    char byte;
    if (syscall(SYS_read, ends[0], &byte, 1) != 1) return 3;
    atomic_fetch_add(&before, 1);
    pthread_join(thread, 0);
    return before == 11 ? 0 : 1;
}
