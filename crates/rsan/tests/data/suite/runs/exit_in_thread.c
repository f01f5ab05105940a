// A thread ends the process; there is no race.
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

static void *leave(void *unused) {
    work();
    exit(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, leave, 0);
    pthread_join(thread, 0);
    return 1;
}
