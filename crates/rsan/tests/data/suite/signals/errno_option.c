// What handlers do is not looked at.
// expect: nothing
// options: signals=0
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(int number) {
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
