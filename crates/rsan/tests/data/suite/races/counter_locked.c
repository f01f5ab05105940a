// Two threads add to a counter with a lock.
// expect: nothing
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *unused) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return counter - 2;
}
