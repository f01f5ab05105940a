// After a fault of an atomic access, left by siglongjmp, a race of the thread is found.
// expect: data-race
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

static sigjmp_buf environment;
static int counter;

static void handle(int signal) {
    (void)signal;
    siglongjmp(environment, 1);
}

static void *add(void *argument) {
    counter++;
    return argument;
}

int main(void) {
    struct sigaction action = {.sa_handler = handle};
    pthread_t thread;
    atomic_int *nowhere = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, 0);
    if (sigsetjmp(environment, 1) == 0) {
        atomic_load(nowhere);
        return 1;
    }
    pthread_create(&thread, 0, add, 0);
    counter++; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
