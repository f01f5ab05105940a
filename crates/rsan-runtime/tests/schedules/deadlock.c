// Two mutexes taken in both orders.
#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

static void *forwards(void *_) {
    pthread_mutex_lock(&one);
    pthread_mutex_lock(&two);
    pthread_mutex_unlock(&two);
    pthread_mutex_unlock(&one);
    return _;
}

static void *backwards(void *_) {
    pthread_mutex_lock(&two);
    pthread_mutex_lock(&one);
    pthread_mutex_unlock(&one);
    pthread_mutex_unlock(&two);
    return _;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, forwards, 0);
    pthread_create(&threads[1], 0, backwards, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
