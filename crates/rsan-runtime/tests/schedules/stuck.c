// Two threads that wait for each other in loops.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int one, two;

static void *first(void *_) {
    while (!atomic_load(&two)) {
    }
    atomic_store(&one, 1);
    return _;
}

static void *second(void *_) {
    while (!atomic_load(&one)) {
    }
    atomic_store(&two, 1);
    return _;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
