#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *finish(void *unused) {
    pthread_mutex_destroy(&mutex);
    return unused;
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, 0, finish, 0)) return 2;
    pthread_join(other, 0);
    pthread_mutex_lock(&mutex);
    return 0;
}
