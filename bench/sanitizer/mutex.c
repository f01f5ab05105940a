// Counter behind a mutex. Arguments: threads, rounds of each.
#include "bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long counter;
static long rounds;

static void body(int thread) {
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    check(counter == (unsigned long)(threads * rounds), "counter");
    return result(counter);
}
