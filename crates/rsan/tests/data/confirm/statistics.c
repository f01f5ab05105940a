// Two workers count what they do, and look at each other's count to say how far they are. A stale count makes a stale figure on
// the way; the sums at the end are right.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_ulong done[2];
static atomic_ulong figure;

static void *work(void *arg) {
    int me = *(int *)arg;
    unsigned long mine = atomic_load_explicit(&done[me], memory_order_relaxed) + 1;
    atomic_store_explicit(&done[me], mine, memory_order_relaxed);
    unsigned long other = atomic_load_explicit(&done[1 - me], memory_order_relaxed);
    atomic_store_explicit(&figure, mine + other, memory_order_relaxed);
    return NULL;
}

int main(void) {
    int names[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    unsigned long sum = done[0] + done[1];
    printf("%lu\n", sum);
    return sum != 2;
}
