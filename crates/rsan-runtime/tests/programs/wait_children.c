// findings: none
// waits: 1
// Finding out whether a place waits is nothing that the program can see: not its handler of SIGCHLD, not its wait(), not
// its handlers of fork, and not what it shares with other processes.
#include "spin.h"
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int x;
static volatile int signals, forks;
static struct { atomic_int top, tries; } *shared;

static void child_ended(int _) { signals++; }
static void forked(void) { forks++; }

static void *writer(void *_) {
    atomic_fetch_add_explicit(&shared->top, 1, memory_order_relaxed);
    STORE(x, 1, relaxed);
    give_hint();
    return 0;
}

static void *waiter(void *_) {
    take_hint(1);
    while (LOAD(x, relaxed) == 0);
    if (wait(NULL) != -1 || errno != ECHILD || signals || forks) abort();
    return 0;
}

int main(void) {
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signal(SIGCHLD, child_ended);
    pthread_atfork(forked, forked, forked);
    RUN(writer, waiter);
    pid_t pid = fork();
    if (pid == 0) _exit(LOAD(shared->top, relaxed) == 1 ? 7 : 8);
    int status = 0;
    if (wait(&status) != pid || WEXITSTATUS(status) != 7) return 1;
    return signals == 1 && forks == 2 && LOAD(shared->tries, relaxed) == 0 ? 0 : 2;
}
