// Fails as its argument says, in a thread.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int one;
static const char *how;
static int *volatile nothing;
static atomic_int *_Atomic missing;

// On one line: which instruction of it needs the first byte that is not there depends on the size
// of the stack.
// clang-format off
static int endless(int depth) { volatile char room[4096]; room[0] = (char)depth; return endless(depth + 1) + room[0]; }
// clang-format on

static int is(const char *word) {
    return strcmp(how, word) == 0;
}

static void *work(void *unused) {
    atomic_store(&one, 1);
    if (is("assertion"))
        assert(atomic_load(&one) == 2);
    if (is("abort"))
        abort();
    if (is("write"))
        *nothing = 1;
    if (is("exit"))
        exit(3);
    if (is("_exit"))
        _exit(4);
    if (is("atomic"))
        atomic_store(missing, 1);
    if (is("stack"))
        endless(1);
    if (is("raise"))
        raise(SIGBUS);
    if (is("trap"))
        __builtin_trap();
    if (is("handled")) {
        signal(SIGSEGV, _exit); // its default is what it was before
        *nothing = 1;
    }
    if (is("default")) {
        struct sigaction before, again;
        sigaction(SIGSEGV, NULL, &before);
        if (before.sa_handler != SIG_DFL || before.sa_flags != 0)
            exit(1);
        signal(SIGSEGV, SIG_IGN);
        sigaction(SIGSEGV, &before, &again);
        if (again.sa_handler != SIG_IGN)
            exit(2);
        *nothing = 1;
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    how = argv[argc - 1];
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return is("return") ? 9 : 0;
}
