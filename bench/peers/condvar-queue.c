// A queue of one place with a mutex and two condition variables; two items go through it.
#include "peers.h"

enum { ITEMS = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
// 0: empty.
static int place;

static void *producer(void *number) {
    (void)number;
    for (int i = 1; i <= ITEMS; i++) {
        pthread_mutex_lock(&mutex);
        while (place) {
            pthread_cond_wait(&emptied, &mutex);
        }
        place = i;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *consumer(void *number) {
    (void)number;
    for (int i = 1; i <= ITEMS; i++) {
        pthread_mutex_lock(&mutex);
        while (!place) {
            pthread_cond_wait(&filled, &mutex);
        }
        assert(place == i);
        place = 0;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    run(2, (void *(*const[])(void *)){producer, consumer});
    return 0;
}
