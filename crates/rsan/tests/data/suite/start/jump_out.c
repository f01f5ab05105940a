// Handlers leave by siglongjmp whatever the thread does, the runtime included; each signal is handled once.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SIGNALS = 400 };
static sigjmp_buf environment;
static atomic_int ready, landed, stop;
static int cells[512];

static void handle(int signal) {
    (void)signal;
    siglongjmp(environment, 1);
}

static void *work(void *argument) {
    if (sigsetjmp(environment, 1)) atomic_fetch_add(&landed, 1);
    atomic_store(&ready, 1);
    while (!atomic_load(&stop)) {
        for (int i = 0; i < 512; i++) cells[i]++;
        free(malloc(100));
    }
    return argument;
}

int main(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = 0};
    pthread_t thread;
    sigaction(SIGUSR1, &action, 0);
    pthread_create(&thread, 0, work, 0);
    while (!atomic_load(&ready)) {}
    for (int i = 1; i <= SIGNALS; i++) {
        pthread_kill(thread, SIGUSR1);
        while (atomic_load(&landed) != i) {}
    }
    atomic_store(&stop, 1);
    pthread_join(thread, 0);
    return 0;
}
