// A barrier for three threads, of which there are two.
// expect: deadlock
#include <pthread.h>

static pthread_barrier_t all;

static void *work(void *arg) {
    pthread_barrier_wait(&all); // <- deadlock
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&all, 0, 3);
    pthread_create(&thread, 0, work, 0);
    pthread_barrier_wait(&all); // <- deadlock
    pthread_join(thread, 0);
    return 0;
}
