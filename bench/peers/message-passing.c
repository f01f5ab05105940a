// Data, then a flag; who sees the flag sees the data.
#include "peers.h"

static atomic_int data, flag;

static void *sender(void *number) {
    (void)number;
    atomic_store_explicit(&data, 42, RELAXED);
    atomic_store_explicit(&flag, 1, RELEASE);
    return NULL;
}

static void *receiver(void *number) {
    (void)number;
    if (atomic_load_explicit(&flag, ACQUIRE)) {
        assert(atomic_load_explicit(&data, RELAXED) == 42);
    }
    return NULL;
}

int main(void) {
    run(2, (void *(*const[])(void *)){sender, receiver});
    return 0;
}
