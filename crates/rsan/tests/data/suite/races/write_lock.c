// Writes under a write lock, reads under a read lock.
// expect: nothing
#include <pthread.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int counter;

static void *add(void *unused) {
    pthread_rwlock_wrlock(&lock);
    counter++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *look(void *unused) {
    pthread_rwlock_rdlock(&lock);
    int seen = counter;
    pthread_rwlock_unlock(&lock);
    return seen > 1 ? unused : NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, look, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
