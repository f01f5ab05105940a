// Another lock at the same place has another order.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

int main(void) {
    pthread_mutex_t *b = malloc(sizeof *b);
    for (int i = 0; i < 4; i++) {
        pthread_mutex_init(b, 0);
        i % 2 ? both(&a, b) : both(b, &a);
        pthread_mutex_destroy(b);
    }
    free(b);
    return 0;
}
