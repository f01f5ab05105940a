// Threads that are joined, detached, or still run at the end are no leaks.
// expect: nothing
#include <pthread.h>
#include <unistd.h>

static void *work(void *arg) {
    return arg;
}

static void *sleeper(void *arg) {
    pause();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
    pthread_create(&thread, 0, sleeper, 0);
    return 0;
}
