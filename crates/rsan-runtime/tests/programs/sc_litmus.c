// findings: none
// tsan: none
// Programs that weak memory would break, with seq_cst alone: store buffering, independent reads of independent
// writes, write-to-read causality, two plus two writes; under whatever schedule there is.
#include "turn.h"

enum { ROUNDS = 300 };
static atomic_int x[ROUNDS], y[ROUNDS], a[ROUNDS], b[ROUNDS];
static int seen[4][2];

static void *one(void *_) {
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store(&x[i], 1);
        seen[0][0] += atomic_load(&y[i]);
        atomic_store(&a[i], 1);
        atomic_store(&b[i], 2);
    }
    return 0;
}

static void *two(void *_) {
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store(&y[i], 1);
        seen[1][0] += atomic_load(&x[i]);
        atomic_store(&b[i], 1);
        atomic_store(&a[i], 2);
    }
    return 0;
}

static void *three(void *_) {
    for (int i = 0; i < ROUNDS; i++) {
        seen[2][0] += atomic_load(&x[i]);
        seen[2][1] += atomic_load(&y[i]);
        atomic_fetch_add(&a[i], 1);
    }
    return 0;
}

static void *four(void *_) {
    for (int i = 0; i < ROUNDS; i++) {
        seen[3][0] += atomic_load(&y[i]);
        seen[3][1] += atomic_load(&x[i]);
        int expected = 2;
        atomic_compare_exchange_strong(&b[i], &expected, 3);
    }
    return 0;
}

int main(void) {
    RUN(one, two, three, four);
    return 0;
}
