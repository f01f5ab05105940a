// A pair of numbers behind a sequence lock. The reader's last look at the sequence may take effect before its reads of
// the numbers, so it may take a torn pair for a good one.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#ifdef FIXED
enum { READ = memory_order_acquire };
#else
enum { READ = memory_order_relaxed };
#endif

static atomic_uint sequence; // odd while the pair is written
static atomic_int pair[2];

static void *write_pair(void *arg) {
    atomic_store_explicit(&sequence, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (int i = 0; i < 2; i++)
        atomic_store_explicit(&pair[i], 5, memory_order_relaxed);
    atomic_store_explicit(&sequence, 2, memory_order_release);
    return arg;
}

static void *read_pair(void *arg) {
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    int copy[2];
    for (int i = 0; i < 2; i++)
        copy[i] = atomic_load_explicit(&pair[i], READ);
    unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
    if (before == after && before % 2 == 0)
        printf("%d %d\n", copy[0], copy[1]);
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
