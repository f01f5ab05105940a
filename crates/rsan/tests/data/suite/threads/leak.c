// A thread has ended and nobody joined it.
// expect: thread-leak
// says: neither joined nor detached
// flags: -D_GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int number;

static void *work(void *arg) {
    atomic_store(&number, gettid());
    return arg;
}

int main(void) {
    pthread_t thread;
    char path[64];
    pthread_create(&thread, 0, work, 0); // <- thread-leak
    while (!atomic_load(&number)) {
    }
    snprintf(path, sizeof path, "/proc/self/task/%d", atomic_load(&number));
    while (access(path, F_OK) == 0) {
    }
    return 0;
}
