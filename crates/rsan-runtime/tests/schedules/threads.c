// Threads of all kinds, more than a snapshot has: with results, in calls that wait, detached, made by threads.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

static atomic_int sum;
static _Thread_local int mine = 7;
static int ends[2];

static void check(int holds) {
    if (!holds) abort();
}

static void *add(void *number) {
    mine += (int)(long)number;
    atomic_fetch_add(&sum, (int)(long)number);
    return (void *)(long)mine;
}

static void *make(void *number) {
    pthread_t thread;
    void *result;
    check(pthread_create(&thread, NULL, add, number) == 0);
    check(pthread_join(thread, &result) == 0);
    return (char *)result + 100;
}

static void *listen_first(void *unused) {
    char byte;
    (void)unused;
    check(read(ends[0], &byte, 1) == 1);
    atomic_fetch_add(&sum, byte);
    return (void *)(long)byte;
}

static int give(void *number) { return (int)(long)number; }

static void round_of(long number) {
    pthread_t threads[6], detached;
    thrd_t other;
    void *result;
    int given;
    check(pthread_create(&threads[0], NULL, listen_first, NULL) == 0);
    check(pthread_create(&threads[1], NULL, make, (void *)number) == 0);
    for (int i = 2; i < 6; i++) check(pthread_create(&threads[i], NULL, add, (void *)(number + i)) == 0);
    check(pthread_create(&detached, NULL, add, (void *)1000) == 0);
    check(pthread_detach(detached) == 0);
    check(thrd_create(&other, give, (void *)number) == thrd_success);
    check(write(ends[1], "x", 1) == 1);
    check(pthread_join(threads[0], &result) == 0 && (long)result == 'x');
    check(pthread_join(threads[1], &result) == 0 && (long)result == 107 + number);
    for (int i = 2; i < 5; i++) check(pthread_join(threads[i], &result) == 0 && (long)result == 7 + number + i);
    while ((given = pthread_tryjoin_np(threads[5], &result)) == EBUSY) sched_yield();
    check(given == 0 && (long)result == 7 + number + 5);
    check(thrd_join(other, &given) == thrd_success && given == number);
}

int main(void) {
    check(pipe(ends) == 0);
    round_of(1);
    round_of(2);
    while (atomic_load(&sum) < 2000 + 2 * 'x' + 5 * 3 + 2 * 14) sched_yield();
    check(mine == 7);
    return 0;
}
