// findings: race
// Two readers of a reader-writer lock are not ordered by it.
#include "turn.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int data;

static void *first(void *_) {
    wait_for_turn(0);
    pthread_rwlock_rdlock(&lock);
    data = 1;
    pthread_rwlock_unlock(&lock);
    end_of_turn();
    return 0;
}

static void *second(void *_) {
    wait_for_turn(1);
    pthread_rwlock_rdlock(&lock);
    data = 2;
    pthread_rwlock_unlock(&lock);
    return 0;
}

int main(void) {
    RUN(first, second);
    return 0;
}
