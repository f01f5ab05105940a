// A handler allocates memory, and is let in only while the thread waits for it.
// expect: nothing
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(int number) {
    (void)number;
    void *volatile block = malloc(10);
    free(block);
}

int main(void) {
    struct sigaction action = {0};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, 0);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &all, 0);
    kill(getpid(), SIGUSR1);
    sigsuspend(&none);
    return 0;
}
