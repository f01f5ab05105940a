// Two threads take two mutexes in opposite orders and meet: a deadlock, while the main thread waits for them.
// expect: deadlock
// says: threads wait for each other
// says: `a` (taken at
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *forwards(void *arg) {
    pthread_mutex_lock(&a);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&b); // <- deadlock
    return arg;
}

static void *backwards(void *arg) {
    pthread_mutex_lock(&b);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&a); // <- deadlock
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&threads[0], 0, forwards, 0);
    pthread_create(&threads[1], 0, backwards, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
