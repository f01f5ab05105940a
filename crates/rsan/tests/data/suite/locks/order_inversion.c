// Two threads take two mutexes in opposite orders, one after the other: a deadlock in another run.
// expect: lock-order-inversion
// says: `b` and `a` are taken in orders that can end in a deadlock
// says: mutexes held: `a` (taken at
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *forwards(void *arg) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); // <- lock-order-inversion
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}

static void *backwards(void *arg) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a); // <- lock-order-inversion
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, backwards, 0);
    pthread_join(thread, 0);
    pthread_create(&thread, 0, forwards, 0);
    pthread_join(thread, 0);
    return 0;
}
