// Fences around relaxed accesses publish, too. ThreadSanitizer reports a race here.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
static atomic_int ready;
static int value;

static void *give(void *unused) {
    value = 42;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

static void *take(void *unused) {
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        ;
    atomic_thread_fence(memory_order_acquire);
    return value == 42 ? NULL : unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, give, NULL);
    pthread_create(&second, NULL, take, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
