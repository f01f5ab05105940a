// Signals that are blocked, waited for, and let in again around locks.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int calls;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void handle(int signal) {
    (void)signal;
    atomic_fetch_add(&calls, 1);
}

int main(void) {
    struct sigaction action = {.sa_handler = handle};
    sigset_t set, old, pending;
    int signal;
    sigaction(SIGUSR1, &action, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    raise(SIGUSR1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (atomic_load(&calls) != 0) return 1;
    sigwait(&set, &signal);
    if (signal != SIGUSR1 || atomic_load(&calls) != 0) return 2;
    raise(SIGUSR1);
    sigpending(&pending);
    if (!sigismember(&pending, SIGUSR1)) return 3;
    pthread_sigmask(SIG_SETMASK, &old, 0);
    return atomic_load(&calls) == 1 ? 0 : 4;
}
