// The main thread ends before the others, which have a race.
// expect: data-race
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

static void *go_on(void *unused) {
    race();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, go_on, 0);
    pthread_detach(thread);
    pthread_exit(0);
}
