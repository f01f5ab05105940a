// A thread gives back a reader-writer lock that another thread reads.
// expect: lock-misuse
#include <pthread.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

static void *work(void *arg) {
    pthread_rwlock_unlock(&table); // <- lock-misuse
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_rwlock_rdlock(&table);
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
