// Two threads that want one resource: each raises its flag and looks at the other's. With release and acquire both
// may miss the other's flag, and both go in.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int wants[2];
static atomic_int inside;

static void *enter(void *arg) {
    int me = *(int *)arg;
    atomic_store_explicit(&wants[me], 1, memory_order_release);
#ifdef FIXED
    atomic_thread_fence(memory_order_seq_cst);
#endif
    if (atomic_load_explicit(&wants[1 - me], memory_order_acquire) == 0)
        atomic_fetch_add(&inside, 1);
    return NULL;
}

int main(void) {
    int names[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, enter, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d inside\n", inside);
    return inside > 1;
}
