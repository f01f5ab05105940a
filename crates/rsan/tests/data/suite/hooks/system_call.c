// A system call that the program makes by itself, and tells of, writes to a buffer.
// expect: data-race
#include <pthread.h>

void __sanitizer_syscall_pre_impl_read(long, long, long);
void __sanitizer_syscall_post_impl_read(long, long, long, long);
void __sanitizer_syscall_pre_impl_getpid(void);

static char buffer[8];

static void *second(void *unused) {
    (void)unused;
    __sanitizer_syscall_pre_impl_read(0, (long)buffer, 8); // <- data-race
    __sanitizer_syscall_post_impl_read(8, 0, (long)buffer, 8);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second, 0);
    __sanitizer_syscall_pre_impl_getpid();
    buffer[7] = 1; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
