// The value of the racy read is not used: optimising compilers remove the read, and with it the race.
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int ready;

static void *writer(void *argument) {
    data = 1;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return argument;
}

static void *reader(void *argument) {
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        int value = data;
        (void)value;
    }
    return argument;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
