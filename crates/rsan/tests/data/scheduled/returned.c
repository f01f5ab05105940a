// A thread uses a variable of a function that may have returned.
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(int *) place;
static volatile int seen;

static void *use(void *unused) {
    int *at = place;
    if (at) seen = *at;
    return unused;
}

__attribute__((noinline)) static void lend(void) {
    volatile int local = 1;
    place = (int *)&local;
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, 0, use, 0)) return 2;
    lend();
    place = 0;
    pthread_join(other, 0);
    return 0;
}
