// findings: misuse misuse misuse misuse misuse misuse misuse misuse misuse misuse misuse misuse misuse
// Locks and the like are used after their end, or in ways that have no meaning.
#include "turn.h"
#include <semaphore.h>
#include <string.h>

static pthread_mutex_t gone, locked, unlocked = PTHREAD_MUTEX_INITIALIZER, others, garbage;
static pthread_rwlock_t gone_rwlock, unlocked_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t gone_condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t gone_barrier, never, twice;
static sem_t gone_semaphore;
static pthread_spinlock_t gone_spin;

static void *unlock_other(void *_) {
    pthread_mutex_unlock(&others);
    return 0;
}

int main(void) {
    pthread_mutex_init(&gone, 0);
    pthread_mutex_destroy(&gone);
    if (!pthread_mutex_lock(&gone)) abort();

    pthread_mutex_init(&locked, 0);
    pthread_mutex_lock(&locked);
    pthread_mutex_destroy(&locked);
    pthread_mutex_unlock(&locked);

    pthread_mutex_unlock(&unlocked);

    pthread_mutex_lock(&others);
    RUN(unlock_other);

    memset(&garbage, 0x2f, sizeof garbage);
    if (!pthread_mutex_lock(&garbage)) abort();

    pthread_rwlock_init(&gone_rwlock, 0);
    pthread_rwlock_destroy(&gone_rwlock);
    pthread_rwlock_rdlock(&gone_rwlock);
    pthread_rwlock_unlock(&gone_rwlock);
    pthread_rwlock_unlock(&unlocked_rwlock);

    pthread_cond_destroy(&gone_condition);
    pthread_cond_signal(&gone_condition);

    pthread_barrier_init(&gone_barrier, 0, 1);
    pthread_barrier_wait(&gone_barrier);
    pthread_barrier_destroy(&gone_barrier);
    pthread_barrier_wait(&gone_barrier);
    pthread_barrier_wait(&never);
    pthread_barrier_init(&twice, 0, 1);
    pthread_barrier_init(&twice, 0, 2);

    sem_init(&gone_semaphore, 0, 1);
    sem_destroy(&gone_semaphore);
    sem_wait(&gone_semaphore);

    pthread_spin_init(&gone_spin, 0);
    pthread_spin_destroy(&gone_spin);
    pthread_spin_lock(&gone_spin);
    return 0;
}
