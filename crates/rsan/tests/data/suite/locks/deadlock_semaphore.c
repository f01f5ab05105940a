// Every thread waits for a semaphore that another one would post afterwards.
// expect: deadlock
#include <pthread.h>
#include <semaphore.h>

static sem_t first, second;

static void *work(void *arg) {
    sem_wait(&first); // <- deadlock
    sem_post(&second);
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&first, 0, 0);
    sem_init(&second, 0, 0);
    pthread_create(&thread, 0, work, 0);
    sem_wait(&second); // <- deadlock
    sem_post(&first);
    pthread_join(thread, 0);
    return 0;
}
