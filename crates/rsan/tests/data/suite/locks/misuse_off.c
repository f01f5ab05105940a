// What is wrong with locks is not said when nobody wants to know.
// expect: nothing
// options: lock_misuse=0
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
    pthread_mutex_unlock(&m);
    return 0;
}
