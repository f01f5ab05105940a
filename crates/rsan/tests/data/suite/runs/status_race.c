// A finding counts more than the exit status of the program.
// expect: data-race
// status: 1
// says: the program failed in 1 of 1 run: exit status 3
#include <pthread.h>

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
    return 3;
}
