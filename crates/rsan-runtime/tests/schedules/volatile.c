// A thread waits for a volatile flag, and reads plain data.
#include <pthread.h>

static volatile int ready;
static int data;

static void *give(void *unused) {
    data = 1;
    ready = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, give, NULL);
    while (!ready)
        ;
    int seen = data;
    pthread_join(thread, NULL);
    return seen != 1;
}
