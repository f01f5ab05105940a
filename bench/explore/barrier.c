// A spinning barrier (central counter and round). Bug: the thread that comes last opens the round with a relaxed increment, so
// that those who wait do not synchronise with it. Race on `notice`.
#include "explore.h"

enum { READERS = 3, ALL = READERS + 1 };

static atomic_uint arrived, rounds;
static int notice, seen[ALL];

static void wait_for_all(void) {
    unsigned round = atomic_load(&rounds);
    if (atomic_fetch_add(&arrived, 1) == ALL - 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add_explicit(&rounds, 1, NEEDS(ACQ_REL, RELAXED));
        return;
    }
    while (atomic_load(&rounds) == round) {
        sched_yield();
    }
}

static void *writer(void *number) {
    (void)number;
    notice = 1;
    wait_for_all();
    return NULL;
}

static void *reader(void *number) {
    wait_for_all();
    seen[*(int *)number] = notice;
    return NULL;
}

int main(void) {
    void *(*bodies[MOST_THREADS])(void *) = {writer, reader, reader, reader};
    run(ALL, bodies);
    for (int i = 1; i < ALL; i++) {
        assert(seen[i] == 1);
    }
    return 0;
}
