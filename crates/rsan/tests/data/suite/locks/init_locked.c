// A mutex is initialised again while it is locked.
// expect: lock-misuse
#include <pthread.h>

static pthread_mutex_t m;

int main(void) {
    pthread_mutex_init(&m, 0);
    pthread_mutex_lock(&m);
    pthread_mutex_init(&m, 0); // <- lock-misuse
    pthread_mutex_destroy(&m);
    return 0;
}
