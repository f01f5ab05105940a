// A handler allocates memory, but the program says when it runs.
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
    raise(SIGUSR1);
    pthread_kill(pthread_self(), SIGUSR1);
    return 0;
}
