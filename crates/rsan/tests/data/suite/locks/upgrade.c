// A reader wants to write, and waits for itself.
// expect: lock-misuse
// says: that the thread has for reading
#include <pthread.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

int main(void) {
    pthread_rwlock_rdlock(&table);
    pthread_rwlock_wrlock(&table); // <- lock-misuse
    return 0;
}
