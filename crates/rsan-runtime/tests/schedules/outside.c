// What a program takes from outside: the time, random numbers, addresses. The atomic word shows what it got.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static atomic_ulong word;

static void *show(void *_) {
    unsigned long random = 0;
    struct timespec time;
    if (getrandom(&random, sizeof random, 0) != sizeof random) abort();
    clock_gettime(CLOCK_MONOTONIC, &time);
    void *block = malloc(100);
    usleep(1000);
    atomic_fetch_xor(&word, random);
    atomic_fetch_xor(&word, (unsigned long)time.tv_nsec << 20);
    atomic_fetch_xor(&word, (unsigned long)block);
    atomic_fetch_xor(&word, (unsigned long)&random);
    free(block);
    return _;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, show, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
