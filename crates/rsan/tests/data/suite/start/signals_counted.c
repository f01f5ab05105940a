// Queued signals to a thread that is often inside the runtime: all are handled, none twice.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { SIGNALS = 500 };
static atomic_int handled, sum, stop;
static int cells[512];

static void handle(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    atomic_fetch_add(&sum, info->si_value.sival_int);
    atomic_fetch_add(&handled, 1);
}

static void *work(void *argument) {
    while (!atomic_load(&stop)) {
        for (int i = 0; i < 512; i++) cells[i]++;
    }
    return argument;
}

int main(void) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    pthread_t thread;
    sigaction(SIGRTMIN, &action, 0);
    pthread_create(&thread, 0, work, 0);
    int expected = 0;
    for (int i = 1; i <= SIGNALS; i++) {
        union sigval value = {.sival_int = i};
        while (pthread_sigqueue(thread, SIGRTMIN, value) != 0) sched_yield();
        expected += i;
    }
    while (atomic_load(&handled) != SIGNALS) {}
    atomic_store(&stop, 1);
    pthread_join(thread, 0);
    return atomic_load(&sum) == expected && atomic_load(&handled) == SIGNALS ? 0 : 1;
}
