// The last user of a mutex destroys it: the mutex itself orders its uses.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

struct shared {
    pthread_mutex_t m;
    int users;
};

static void *work(void *arg) {
    struct shared *shared = arg;
    pthread_mutex_lock(&shared->m);
    int left = --shared->users;
    pthread_mutex_unlock(&shared->m);
    if (left == 0) {
        pthread_mutex_destroy(&shared->m);
        free(shared);
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    struct shared *shared = malloc(sizeof *shared);
    pthread_mutex_init(&shared->m, 0);
    shared->users = 2;
    pthread_create(&threads[0], 0, work, shared);
    pthread_create(&threads[1], 0, work, shared);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
