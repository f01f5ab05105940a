// findings: none
// Everything else that synchronises: each thread's work is ordered by one primitive.
#include "turn.h"
#include <semaphore.h>

enum { THREADS = 4, ROUNDS = 200 };
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int by_rwlock, by_spin, by_barrier, by_once, by_cond, by_sem, ready;

static void set_up(void) { by_once = 1; }

static void *work(void *_) {
    int sum = 0;
    pthread_once(&once, set_up);
    sum += by_once;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 8 == 0) {
            pthread_rwlock_wrlock(&rwlock);
            by_rwlock++;
        } else {
            pthread_rwlock_rdlock(&rwlock);
            sum += by_rwlock;
        }
        pthread_rwlock_unlock(&rwlock);
        pthread_spin_lock(&spin);
        by_spin++;
        pthread_spin_unlock(&spin);
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) by_barrier++;
        pthread_barrier_wait(&barrier);
        sum += by_barrier;
        sem_wait(&sem);
        by_sem++;
        sem_post(&sem);
    }
    pthread_mutex_lock(&mutex);
    ready++;
    pthread_cond_broadcast(&cond);
    while (ready < THREADS) pthread_cond_wait(&cond, &mutex);
    by_cond += sum;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, 0, THREADS);
    sem_init(&sem, 0, 1);
    RUN(work, work, work, work);
    sem_destroy(&sem);
    pthread_barrier_destroy(&barrier);
    return by_spin == THREADS * ROUNDS && by_barrier == ROUNDS && by_sem == by_spin ? 0 : 1;
}
