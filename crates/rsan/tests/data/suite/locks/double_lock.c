// A thread locks a mutex that it has: it waits for itself, and the process ends.
// expect: lock-misuse
// says: lock of a mutex that the thread has already
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m); // <- lock-misuse
    return 0;
}
