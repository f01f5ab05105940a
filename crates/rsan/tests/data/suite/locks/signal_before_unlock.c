// The condition variable is signalled under the mutex: its destruction comes after.
// expect: nothing
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;

static void *work(void *arg) {
    pthread_mutex_lock(&m);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&m);
    while (!done)
        pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
    pthread_cond_destroy(&changed);
    pthread_join(thread, 0);
    return 0;
}
