// The main thread ends before the others, which have no race.
// expect: nothing
#include <pthread.h>

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

static void *go_on(void *unused) {
    work();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, go_on, 0);
    pthread_detach(thread);
    pthread_exit(0);
}
