// Threads wait for each other in every way, in turns: all waits end.
// expect: nothing
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t both;
static sem_t ping, pong;
static int turn, sum, spins;

static void *work(void *arg) {
    int me = arg != 0;
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&m);
        while (turn != me)
            pthread_cond_wait(&changed, &m);
        turn = !me;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&m);
        sem_post(me ? &ping : &pong);
        sem_wait(me ? &pong : &ping);
        pthread_rwlock_wrlock(&table);
        sum++;
        pthread_rwlock_unlock(&table);
        pthread_rwlock_rdlock(&table);
        pthread_spin_lock(&spin);
        spins++;
        pthread_spin_unlock(&spin);
        pthread_rwlock_unlock(&table);
        pthread_barrier_wait(&both);
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&both, 0, 2);
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    pthread_create(&threads[0], 0, work, 0);
    pthread_create(&threads[1], 0, work, &sum);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return sum != 4000;
}
