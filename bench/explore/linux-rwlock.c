// The reader-writer lock of older Linux kernels: a counter that starts at a bias; readers take one, a writer takes all. Bug: who
// has to wait takes the lock relaxed afterwards. Race on `data`.
#include "explore.h"

enum { BIAS = 0x100000 };

static atomic_int lock = BIAS;
int data, seen[2];

static bool is_free(int before, int share) {
    return share == BIAS ? before == BIAS : before > 0;
}

// `share` is 1 for a reader, BIAS for a writer.
static void take(int share) {
    int before = atomic_fetch_sub_explicit(&lock, share, ACQUIRE);
    while (!is_free(before, share)) {
        atomic_fetch_add_explicit(&lock, share, RELAXED);
        while (!is_free(atomic_load_explicit(&lock, RELAXED), share)) {
            sched_yield();
        }
        before = atomic_fetch_sub_explicit(&lock, share, NEEDS(ACQUIRE, RELAXED));
    }
}

static void give_back(int share) {
    atomic_fetch_add_explicit(&lock, share, RELEASE);
}

static void *body(void *number) {
    int me = *(int *)number;
    take(1);
    seen[me] = data;
    give_back(1);
    take(BIAS);
    data = me + 1;
    give_back(BIAS);
    return NULL;
}

int main(void) {
    run_all(2, body);
    return 0;
}
