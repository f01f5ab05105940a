// findings: none
// Functions that the system calls: signal handlers and exit handlers come after their registration, in any thread.
#define _GNU_SOURCE
#include "turn.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

static int for_handler, for_action, handled, at_exit_data;
static pthread_key_t key;

static void on_signal(int signal) {
    if (signal != SIGUSR1 || for_handler != 1) abort();
    errno = 0;
    handled++;
}

static void on_action(int signal, siginfo_t *info, void *context) {
    if (signal != SIGUSR2 || info->si_signo != SIGUSR2 || !context || for_action != 2) abort();
    handled++;
}

static void *started_before(void *_) {
    wait_for_turn(1);
    raise(SIGUSR1);
    raise(SIGUSR2);
    if (handled != 2) abort();
    return 0;
}

static void at_the_end(void) {
    if (at_exit_data != 3) _Exit(1);
}

static void at_thread_end(void *data) { free(data); }

static void *registers(void *_) {
    pthread_setspecific(key, malloc(10));
    at_exit_data = 3;
    atexit(at_the_end);
    end_of_turn();
    return 0;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, 0, started_before, 0)) abort();
    struct sigaction action = {.sa_sigaction = on_action, .sa_flags = SA_SIGINFO}, old;
    for_handler = 1;
    if (signal(SIGUSR1, on_signal) != SIG_DFL || signal(SIGUSR1, on_signal) != on_signal) abort();
    for_action = 2;
    if (sigaction(SIGUSR2, &action, 0) || sigaction(SIGUSR2, 0, &old)) abort();
    if (old.sa_sigaction != on_action || !(old.sa_flags & SA_SIGINFO)) abort();
    if (sigaction(SIGUSR1, 0, &old) || old.sa_handler != on_signal || old.sa_flags & SA_SIGINFO) abort();
    if (sigaction(0, &action, 0) == 0 || sigaction(1000, &action, 0) == 0) abort();
    signal(SIGINT, SIG_IGN);
    raise(SIGINT);
    end_of_turn();
    pthread_join(thread, 0);
    pthread_key_create(&key, at_thread_end);
    pthread_t detached;
    if (pthread_create(&detached, 0, registers, 0)) abort();
    pthread_detach(detached);
    wait_for_turn(2);
    return 0;
}
