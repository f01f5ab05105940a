// A function that runs at the exit has no race.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

int value;

static void *write_value(void *unused) {
    value = 1;
    return unused;
}

static void work(void) {
    pthread_t thread;
    pthread_create(&thread, 0, write_value, 0);
    pthread_join(thread, 0);
    value = 2;
}

int main(void) {
    atexit(work);
    return 0;
}
