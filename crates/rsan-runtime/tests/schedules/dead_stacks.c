// Memory of functions and threads that have ended is used by others.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *_Atomic place;
static atomic_int *_Atomic counter;
static int seen;

static void *leave(void *_) {
    int local = 1;
    atomic_int count = 0;
    place = &local;
    counter = &count;
    return 0;
}

__attribute__((noinline)) static void lend(void) {
    volatile int local = 1;
    atomic_int count = 0;
    place = (int *)&local;
    counter = &count;
}

// Only reads: the memory is that of others.
static void *use(void *_) {
    seen = *place;
    seen += atomic_load(counter);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, leave, 0);
    pthread_join(thread, 0);
    *place = 2;
    atomic_fetch_add(counter, 1);
    lend();
    pthread_create(&thread, 0, use, 0);
    pthread_join(thread, 0);
    return 0;
}
