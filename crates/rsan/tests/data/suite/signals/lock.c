// A handler of a signal that can come at any time takes a mutex.
// expect: signal-unsafe-call
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void handler(int number) {
    (void)number;
    pthread_mutex_lock(&mutex); // <- signal-unsafe-call
    pthread_mutex_unlock(&mutex);
}

int main(void) {
    struct sigaction action = {0};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, 0);
    kill(getpid(), SIGUSR1);
    return 0;
}
