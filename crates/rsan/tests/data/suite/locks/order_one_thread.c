// One thread takes two mutexes in both orders.
// expect: lock-order-inversion
// says: so far in one thread only
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); // <- lock-order-inversion
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a); // <- lock-order-inversion
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return 0;
}
