// A writer waits for a reader that waits for the writer's mutex.
// expect: deadlock
#include <pthread.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *reader(void *arg) {
    pthread_rwlock_rdlock(&table);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&m); // <- deadlock
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&thread, 0, reader, 0);
    pthread_mutex_lock(&m);
    pthread_barrier_wait(&both);
    pthread_rwlock_wrlock(&table); // <- deadlock
    return 0;
}
