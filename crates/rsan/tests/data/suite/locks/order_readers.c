// Readers take two reader-writer locks in both orders: they do not exclude each other.
// expect: nothing
#include <pthread.h>

static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER, b = PTHREAD_RWLOCK_INITIALIZER;

static void *both(void *arg) {
    pthread_rwlock_t *first = arg ? &a : &b, *second = arg ? &b : &a;
    pthread_rwlock_rdlock(first);
    pthread_rwlock_rdlock(second);
    pthread_rwlock_unlock(second);
    pthread_rwlock_unlock(first);
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
