// A flag that is relaxed publishes nothing. Either thread may come first: the plain write and the plain read are both unconditional.
// expect: data-race
#include <pthread.h>
#include <stdatomic.h>
static atomic_int ready;
static int value;

static void *give(void *unused) {
    value = 42; // <- data-race
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

static void *take(void *unused) {
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        ;
    return value == 42 ? NULL : unused; // <- data-race
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, give, NULL);
    pthread_create(&second, NULL, take, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
