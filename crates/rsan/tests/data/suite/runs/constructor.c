// A thread that is created and joined before main.
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

__attribute__((constructor)) static void before(void) {
    work();
}

int main(void) {
    return 0;
}
