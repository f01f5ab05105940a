// A lock is among what forces the order, but does not order what is missed.
#include "pinned.h"
#include <stdatomic.h>

static atomic_int x, y;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *overtake(void *unused) {
    wait_for(1);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    step_done();
    wait_for(3);
    return unused;
}

static void *look(void *unused) {
    wait_for(2);
    pthread_mutex_lock(&mutex);
    atomic_load_explicit(&x, memory_order_relaxed);
    pthread_mutex_unlock(&mutex);
    step_done();
    return unused;
}

int main(void) {
    pthread_t one, two;
    if (pthread_create(&one, 0, overtake, 0) || pthread_create(&two, 0, look, 0)) return 2;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_load_explicit(&y, memory_order_relaxed);
    step_done();
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
