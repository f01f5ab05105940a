// Two threads use two locks for one variable.
// expect: data-race
#include <pthread.h>
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int counter;

static void *add(void *lock) {
    pthread_mutex_lock(lock);
    counter++; // <- data-race
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, add, &locks[0]);
    pthread_create(&second, NULL, add, &locks[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
