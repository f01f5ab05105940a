// Threads, locks and memory are used before main and after it.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *argument) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    free(malloc(100));
    return argument;
}

static void both(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}

__attribute__((constructor)) static void early(void) { both(); }
__attribute__((destructor)) static void late(void) { both(); }

int main(void) { return counter == 2 ? 0 : 1; }
