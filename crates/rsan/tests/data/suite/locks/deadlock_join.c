// The main thread joins a thread that wants the lock that the main thread has.
// expect: deadlock
// says: the end of thread 1
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
    pthread_mutex_lock(&m); // <- deadlock
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&m);
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0); // <- deadlock
    pthread_mutex_unlock(&m);
    return 0;
}
