// A race of an access under a lock with one under another: the report says who had which.
// expect: data-race
// says: held_in_race.c:12
// says: held_in_race.c:19) and `b` (read) (taken at
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t b = PTHREAD_RWLOCK_INITIALIZER;
int data;

static void *one(void *arg) {
    pthread_mutex_lock(&a);
    data = 1; // <- data-race
    pthread_mutex_unlock(&a);
    return arg;
}

static void *two(void *arg) {
    pthread_mutex_lock(&outer);
    pthread_rwlock_rdlock(&b);
    data = 2; // <- data-race
    pthread_rwlock_unlock(&b);
    pthread_mutex_unlock(&outer);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
