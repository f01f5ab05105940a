// A pair of numbers behind a sequence lock. The reader's last look at the sequence may move before its reads of the
// numbers, so it may take a torn pair for a good one.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_uint sequence; // odd while the pair is written
static atomic_int left, right;

static void *write_pair(void *arg) {
    atomic_store_explicit(&sequence, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&left, 5, memory_order_relaxed);
    atomic_store_explicit(&right, 5, memory_order_relaxed);
    atomic_store_explicit(&sequence, 2, memory_order_release);
    return arg;
}

static void *read_pair(void *arg) {
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    int l = atomic_load_explicit(&left, memory_order_relaxed);
    int r = atomic_load_explicit(&right, memory_order_relaxed);
#ifdef FIXED
    atomic_thread_fence(memory_order_acquire);
#endif
    unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
    if (before == after && before % 2 == 0)
        printf("%d %d\n", l, r);
    return arg;
}

int main(void) {
    pthread_t writer, reader;
    pthread_create(&writer, NULL, write_pair, NULL);
    pthread_create(&reader, NULL, read_pair, NULL);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return 0;
}
