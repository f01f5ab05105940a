// A lock that is handed on in the order of arrival; every thread takes it once.
#include "peers.h"

static atomic_int next, now, counter;

static void *body(void *number) {
    (void)number;
    int mine = atomic_fetch_add_explicit(&next, 1, ACQ_REL);
    while (atomic_load_explicit(&now, ACQUIRE) != mine) {
    }
    int before = atomic_load_explicit(&counter, RELAXED);
    atomic_store_explicit(&counter, before + 1, RELAXED);
    atomic_store_explicit(&now, mine + 1, RELEASE);
    return NULL;
}

int main(void) {
    run_all(THREADS, body);
    assert(atomic_load_explicit(&counter, RELAXED) == THREADS);
    return 0;
}
