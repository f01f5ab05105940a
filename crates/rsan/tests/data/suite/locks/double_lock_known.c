// Mutexes that know their owner tell it, or count.
// expect: nothing
// flags: -D_GNU_SOURCE
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int main(void) {
    pthread_mutex_lock(&checking);
    int told = pthread_mutex_lock(&checking) == EDEADLK;
    pthread_mutex_unlock(&checking);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    return !told;
}
