// findings: none
// Locks and the like that begin, end and begin again, by calls and by assignments, in variables, blocks and on the stack; and
// mutexes that say themselves that their use is wrong.
#define _GNU_SOURCE
#include "turn.h"
#include <errno.h>
#include <semaphore.h>
#include <threads.h>

static int total;

static void locks_on_the_stack(void) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_barrier_t barrier;
    sem_t semaphore;
    pthread_barrier_init(&barrier, 0, 1);
    sem_init(&semaphore, 0, 1);
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&condition);
    total++;
    pthread_mutex_unlock(&lock);
    pthread_rwlock_wrlock(&shared);
    pthread_rwlock_unlock(&shared);
    pthread_rwlock_rdlock(&shared);
    pthread_rwlock_unlock(&shared);
    pthread_barrier_wait(&barrier);
    sem_wait(&semaphore);
    sem_post(&semaphore);
    if (total % 2) return;
    pthread_mutex_destroy(&lock);
    pthread_rwlock_destroy(&shared);
    pthread_cond_destroy(&condition);
    pthread_barrier_destroy(&barrier);
    sem_destroy(&semaphore);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;

static void locks_again(void) {
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    shared = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, 0, 1);
    pthread_mutex_lock(&lock);
    pthread_rwlock_rdlock(&shared);
    pthread_spin_lock(&spin);
    pthread_barrier_wait(&barrier);
    pthread_spin_unlock(&spin);
    pthread_rwlock_unlock(&shared);
    pthread_mutex_unlock(&lock);
    pthread_mutex_destroy(&lock);
    pthread_rwlock_destroy(&shared);
    pthread_spin_destroy(&spin);
    pthread_barrier_destroy(&barrier);
}

static void mutexes_that_check(void) {
    pthread_mutexattr_t attr;
    pthread_mutex_t checking, recursive;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &attr);
    if (pthread_mutex_unlock(&checking) != EPERM) abort();
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attr);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    if (pthread_mutex_unlock(&recursive) != EPERM) abort();
    mtx_t standard;
    mtx_init(&standard, mtx_plain);
    mtx_lock(&standard);
    mtx_unlock(&standard);
    mtx_destroy(&standard);
}

static pthread_barrier_t *meeting;

/// Whoever is told by the barrier destroys it; the other may still be leaving.
static void *meet(void *_) {
    if (pthread_barrier_wait(meeting) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_barrier_destroy(meeting);
        free(meeting);
    }
    return 0;
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *alternate(void *_) {
    pthread_mutex_lock(&guard);
    int mine = turns++;
    pthread_cond_broadcast(&changed);
    while (turns < 2) pthread_cond_wait(&changed, &guard);
    if (mine) turns = 2;
    pthread_mutex_unlock(&guard);
    return 0;
}

int main(void) {
    for (int i = 0; i < 10; i++) {
        locks_on_the_stack();
        locks_again();
    }
    mutexes_that_check();
    meeting = malloc(sizeof *meeting);
    pthread_barrier_init(meeting, 0, 2);
    RUN(meet, meet);
    RUN(alternate, alternate);
    return 0;
}
