// A signal that is blocked comes when it is let in, and not before. The status says what went wrong; 0: nothing.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static volatile sig_atomic_t handled, blocked_meanwhile;
static atomic_int turns;

static int blocks(int signal) {
    sigset_t blocked;
    if (pthread_sigmask(SIG_BLOCK, 0, &blocked)) abort();
    return sigismember(&blocked, signal);
}

static int is_pending(int signal) {
    sigset_t pending;
    if (sigpending(&pending)) abort();
    return sigismember(&pending, signal);
}

static void handle(int signal) {
    handled++;
    blocked_meanwhile = blocks(SIGUSR2) && blocks(signal) && !is_pending(signal);
}

static void *work(void *none) {
    if (!blocks(SIGUSR1)) abort();
    atomic_fetch_add(&turns, 1);
    return none;
}

int main(void) {
    struct sigaction action = {.sa_handler = handle};
    sigfillset(&action.sa_mask);
    if (sigaction(SIGUSR1, &action, 0)) abort();
    sigset_t one, before;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    if (pthread_sigmask(SIG_BLOCK, &one, &before)) abort();
    if (sigismember(&before, SIGUSR1)) return 1;
    if (!blocks(SIGUSR1) || is_pending(SIGUSR1)) return 2;

    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], 0, work, 0)) abort();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);

    if (raise(SIGUSR1)) abort();
    if (handled || !is_pending(SIGUSR1)) return 3;
    if (pthread_sigmask(77, &one, 0) != EINVAL || handled) return 4;
    if (pthread_sigmask(SIG_UNBLOCK, &one, 0)) abort();
    if (handled != 1 || !blocked_meanwhile || is_pending(SIGUSR1)) return 5;
    if (blocks(SIGUSR1) || blocks(SIGUSR2)) return 6;

    if (pthread_sigmask(SIG_BLOCK, &one, 0) || raise(SIGUSR1) || handled != 1) return 7;
    if (pthread_sigmask(SIG_SETMASK, &before, 0) || handled != 2) return 8;
    return atomic_load(&turns) == 2 ? 0 : 9;
}
