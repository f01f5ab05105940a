// Two mistakes of the same form: a stale count does no harm, a stale flag lets both workers in. Only the second one is to blame for that.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int count[2];
static atomic_int wants[2];
static atomic_int inside;
static atomic_int figure;

static void *work(void *arg) {
    int me = *(int *)arg;
    atomic_store_explicit(&count[me], 1, memory_order_relaxed);
    int other = atomic_load_explicit(&count[1 - me], memory_order_relaxed);
    atomic_store_explicit(&figure, other, memory_order_relaxed);
    atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
    if (atomic_load_explicit(&wants[1 - me], memory_order_relaxed) == 0)
        atomic_fetch_add(&inside, 1);
    return NULL;
}

int main(void) {
    int names[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return inside > 1;
}
