// Both orders happen under a common outer lock: no deadlock is possible.
// expect: nothing
#include <pthread.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *both(void *arg) {
    pthread_mutex_t *first = arg ? &a : &b, *second = arg ? &b : &a;
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    pthread_mutex_unlock(&gate);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, both, 0);
    pthread_create(&threads[1], 0, both, &a);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
