// A thread ends the process after a race.
// expect: data-race
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

static void *leave(void *unused) {
    race();
    exit(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, leave, 0);
    pthread_join(thread, 0);
    return 1;
}
