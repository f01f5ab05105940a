// A condition variable is destroyed while a thread waits for it.
// expect: lock-misuse
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waits, done;

static void *work(void *arg) {
    pthread_mutex_lock(&m);
    waits = 1;
    while (!done)
        pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t thread;
    int seen = 0;
    pthread_create(&thread, 0, work, 0);
    while (!seen) {
        pthread_mutex_lock(&m);
        seen = waits;
        pthread_mutex_unlock(&m);
    }
    pthread_cond_destroy(&changed); // <- lock-misuse
    pthread_mutex_lock(&m);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&m);
    pthread_join(thread, 0);
    return 0;
}
