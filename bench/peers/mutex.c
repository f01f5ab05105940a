// Every thread increments under a mutex once; the executions are the orders in which it is taken.
#include "peers.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *body(void *number) {
    (void)number;
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    run_all(THREADS, body);
    assert(counter == THREADS);
    return 0;
}
