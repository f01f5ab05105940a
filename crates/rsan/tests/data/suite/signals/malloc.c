// A handler of a signal that can come at any time allocates memory.
// expect: signal-unsafe-call
// expect: signal-unsafe-call
// says: is not async-signal-safe
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(int number) {
    (void)number;
    void *volatile block = malloc(10); // <- signal-unsafe-call
    free(block); // <- signal-unsafe-call
}

int main(void) {
    struct sigaction action = {0};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, 0);
    kill(getpid(), SIGUSR1);
    return 0;
}
