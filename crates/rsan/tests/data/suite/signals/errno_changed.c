// A handler of a signal that can come at any time changes errno.
// expect: signal-errno
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(int number) { // <- signal-errno
    (void)number;
    errno = ENOENT;
}

int main(void) {
    struct sigaction action = {0};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, 0);
    kill(getpid(), SIGUSR1);
    return 0;
}
