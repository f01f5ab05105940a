// findings: none
// A thread that is cancelled while it waits.
#include "turn.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int data, waiting;

static void unlock(void *_) { pthread_mutex_unlock(&mutex); }

static void *sleeper(void *_) {
    pthread_mutex_lock(&mutex);
    data++;
    waiting = 1;
    pthread_cleanup_push(unlock, 0);
    while (1) pthread_cond_wait(&cond, &mutex);
    pthread_cleanup_pop(1);
    return 0;
}

int main(void) {
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *result;
        waiting = 0;
        if (pthread_create(&thread, 0, sleeper, 0)) abort();
        for (int seen = 0; !seen;) {
            pthread_mutex_lock(&mutex);
            seen = waiting;
            pthread_mutex_unlock(&mutex);
        }
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED) return 1;
    }
    return data == 20 ? 0 : 1;
}
