#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *a, pthread_mutex_t *b) {
    pthread_mutex_lock(a);
    pthread_mutex_lock(b);
    pthread_mutex_unlock(b);
    pthread_mutex_unlock(a);
}
static void *other(void *unused) {
    both(&second, &first);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    both(&first, &second);
    pthread_join(thread, 0);
}
