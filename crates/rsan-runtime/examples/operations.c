// Nanoseconds per operation in one thread whose memory another thread has used before; see operations.rs.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int word;
static atomic_int other;
static int plain[1024];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

#define MEASURE(name, count, operation) do { \
    double best = 1e30; \
    for (int repeat = 0; repeat < 5; repeat++) { \
        double start = now(); \
        for (int i = 0; i < count; i++) { operation; } \
        double each = (now() - start) / count; \
        if (each < best) best = each; \
    } \
    printf("%s %.3f\n", name, best); \
} while (0)

static void *toucher(void *_) {
    atomic_fetch_add(&word, 1);
    atomic_fetch_add(&other, 1);
    for (int i = 0; i < 1024; i++) plain[i]++;
    return 0;
}

static void *contender(void *stop) {
    while (!atomic_load_explicit((atomic_int *)stop, memory_order_relaxed)) atomic_fetch_add(&other, 1);
    return 0;
}

int main(void) {
    pthread_t thread;
    enum { N = 1000000 };
    pthread_create(&thread, 0, toucher, 0);
    pthread_join(thread, 0);
    MEASURE("relaxed_load", N, atomic_load_explicit(&word, memory_order_relaxed));
    MEASURE("acquire_load", N, atomic_load_explicit(&word, memory_order_acquire));
    MEASURE("relaxed_store", N, atomic_store_explicit(&word, i, memory_order_relaxed));
    MEASURE("release_store", N, atomic_store_explicit(&word, i, memory_order_release));
    MEASURE("seq_cst_store", N, atomic_store_explicit(&word, i, memory_order_seq_cst));
    MEASURE("acq_rel_fetch_add", N, atomic_fetch_add_explicit(&word, 1, memory_order_acq_rel));
    MEASURE("relaxed_fetch_add", N, atomic_fetch_add_explicit(&word, 1, memory_order_relaxed));
    MEASURE("plain_read_write", N, plain[i % 1024]++);
    MEASURE("release_and_plain", N, (plain[i % 1024]++, atomic_store_explicit(&word, i, memory_order_release)));
    MEASURE("mutex", N, (pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex)));
    atomic_int stop = 0;
    pthread_create(&thread, 0, contender, &stop);
    MEASURE("contended_fetch_add", N, atomic_fetch_add(&other, 1));
    atomic_store(&stop, 1);
    pthread_join(thread, 0);
    return 0;
}
