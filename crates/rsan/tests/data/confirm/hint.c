// Two workers take one of two places each. A flag hints at which place the other one begins; the exchange decides. A stale
// hint costs a second exchange, and nothing else.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int hint[2];
static atomic_int taken[2];
static int place[2];

static void *work(void *arg) {
    int me = *(int *)arg;
    atomic_store_explicit(&hint[me], 1, memory_order_relaxed);
    int at = atomic_load_explicit(&hint[1 - me], memory_order_relaxed) ? me : 1 - me;
    while (atomic_exchange_explicit(&taken[at], 1, memory_order_acq_rel))
        at = 1 - at;
    place[me] = at;
    return NULL;
}

int main(void) {
    int names[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(place[0] != place[1]);
    return 0;
}
