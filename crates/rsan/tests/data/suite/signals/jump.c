// A handler is left by a jump: what the program does then is not done in a handler.
// expect: nothing
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static sigjmp_buf before;

static void handler(int number) {
    (void)number;
    siglongjmp(before, 1);
}

int main(void) {
    struct sigaction action = {0};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, 0);
    if (sigsetjmp(before, 1) == 0) {
        kill(getpid(), SIGUSR1);
    }
    void *volatile block = malloc(10);
    free(block);
    return 0;
}
