// A race is reported although the process aborts later.
// expect: data-race
// says: the program failed in 1 of 1 run: signal 6 (SIGABRT)
#include <pthread.h>
#include <stdlib.h>

int value;

static void *write_value(void *unused) {
    value = 1; // <- data-race
    return unused;
}

static void race(void) {
    pthread_t thread;
    pthread_create(&thread, 0, write_value, 0);
    value = 2; // <- data-race
    pthread_join(thread, 0);
}

int main(void) {
    race();
    abort();
}
