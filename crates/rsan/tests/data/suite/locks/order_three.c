// Three locks of three kinds, taken in a circle.
// expect: lock-order-inversion
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t b = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t c;

int main(void) {
    pthread_spin_init(&c, 0);
    pthread_mutex_lock(&a);
    pthread_rwlock_rdlock(&b); // <- lock-order-inversion
    pthread_rwlock_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_rwlock_wrlock(&b);
    pthread_spin_lock(&c); // <- lock-order-inversion
    pthread_spin_unlock(&c);
    pthread_rwlock_unlock(&b);
    pthread_spin_lock(&c);
    pthread_mutex_lock(&a); // <- lock-order-inversion
    pthread_mutex_unlock(&a);
    pthread_spin_unlock(&c);
    return 0;
}
