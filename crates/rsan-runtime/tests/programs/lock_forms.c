// findings: none
// The timed, robust, recursive and checking forms of locks, and waits that are cancelled.
#define _GNU_SOURCE
#include "turn.h"
#include <errno.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, robust, recursive, checking;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int by_plain, by_robust, by_recursive, by_checking, by_rwlock, by_sem, by_cancelled, waiting;

static void init(pthread_mutex_t *mutex, int type, int robustness) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, type);
    pthread_mutexattr_setrobust(&attr, robustness);
    if (pthread_mutex_init(mutex, &attr)) abort();
}

static void *work(void *_) {
    struct timespec late = {.tv_sec = time(0) + 100000};
    for (int i = 0; i < 100; i++) {
        if (pthread_mutex_clocklock(&plain, CLOCK_REALTIME, &late)) abort();
        by_plain++;
        pthread_mutex_unlock(&plain);
        if (i % 2 ? pthread_rwlock_timedwrlock(&rwlock, &late)
                  : pthread_rwlock_clockwrlock(&rwlock, CLOCK_REALTIME, &late)) abort();
        by_rwlock++;
        pthread_rwlock_unlock(&rwlock);
        if (i % 2 ? pthread_rwlock_timedrdlock(&rwlock, &late)
                  : pthread_rwlock_clockrdlock(&rwlock, CLOCK_REALTIME, &late)) abort();
        if (by_rwlock > 1000) abort();
        pthread_rwlock_unlock(&rwlock);
        if (i % 2 ? sem_timedwait(&sem, &late) : sem_clockwait(&sem, CLOCK_REALTIME, &late)) abort();
        by_sem++;
        sem_post(&sem);
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        by_recursive++;
        pthread_mutex_unlock(&recursive);
        by_recursive++;
        pthread_mutex_unlock(&recursive);
        pthread_mutex_lock(&checking);
        by_checking++;
        if (pthread_mutex_lock(&checking) != EDEADLK) abort();
        pthread_mutex_unlock(&checking);
        if (pthread_mutex_unlock(&checking) != EPERM) abort();
    }
    return 0;
}

static void *die_with_lock(void *_) {
    pthread_mutex_lock(&robust);
    by_robust++;
    return 0;
}

static void *inherit_lock(void *_) {
    if (pthread_mutex_lock(&robust) == EOWNERDEAD) pthread_mutex_consistent(&robust);
    by_robust++;
    pthread_mutex_unlock(&robust);
    return 0;
}

static void clean_up(void *_) {
    by_cancelled++;
    pthread_mutex_unlock(&plain);
}

static void *wait_forever(void *_) {
    pthread_mutex_lock(&plain);
    pthread_cleanup_push(clean_up, 0);
    waiting = 1;
    while (waiting) pthread_cond_wait(&cond, &plain);
    pthread_cleanup_pop(1);
    return 0;
}

int main(void) {
    init(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
    init(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
    init(&checking, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
    sem_init(&sem, 0, 1);
    RUN(work, work, work);
    pthread_t one, two;
    if (pthread_create(&one, 0, die_with_lock, 0)) abort();
    if (pthread_create(&two, 0, inherit_lock, 0)) abort();
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_mutex_lock(&robust);
    if (pthread_create(&one, 0, wait_forever, 0)) abort();
    for (int seen = 0; !seen; sched_yield()) {
        pthread_mutex_lock(&plain);
        seen = waiting;
        if (seen) by_cancelled++;
        pthread_mutex_unlock(&plain);
    }
    pthread_cancel(one);
    pthread_mutex_lock(&plain);
    by_cancelled++;
    pthread_mutex_unlock(&plain);
    pthread_join(one, 0);
    return by_plain == 300 && by_rwlock == 300 && by_sem == 300 && by_recursive == 600 && by_checking == 300 &&
                   by_robust == 2 && by_cancelled == 3 ? 0 : 1;
}
