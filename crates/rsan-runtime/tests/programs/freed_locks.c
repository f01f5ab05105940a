// findings: misuse misuse
// Locks in memory that was freed.
#include "turn.h"

struct account {
    pthread_mutex_t lock;
    pthread_rwlock_t shared;
    int amount;
};

int main(void) {
    struct account *volatile account = malloc(sizeof *account);
    pthread_mutex_init(&account->lock, 0);
    pthread_rwlock_init(&account->shared, 0);
    pthread_mutex_lock(&account->lock);
    account->amount = 1;
    pthread_mutex_unlock(&account->lock);
    free(account);
    pthread_mutex_trylock(&account->lock);
    pthread_rwlock_tryrdlock(&account->shared);
    return 0;
}
