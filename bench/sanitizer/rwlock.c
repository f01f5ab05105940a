// Reader-writer spin lock in one word. Arguments: threads, rounds of each (one in eight writes).
#include "bench.h"

enum { WRITER = 1 << 30, WORDS = 8 };

static atomic_int state;
static unsigned long words[WORDS];
static long rounds;

static void lock_shared(void) {
    unsigned waits = 0;
    for (;;) {
        int now = atomic_load_explicit(&state, RELAXED);
        if (now < WRITER && atomic_compare_exchange_weak_explicit(&state, &now, now + 1, ACQUIRE, RELAXED)) {
            return;
        }
        relax(&waits);
    }
}

static void lock(void) {
    unsigned waits = 0;
    for (;;) {
        int expected = 0;
        if (atomic_compare_exchange_weak_explicit(&state, &expected, WRITER, ACQUIRE, RELAXED)) {
            return;
        }
        relax(&waits);
    }
}

static void body(int thread) {
    for (long i = 0; i < rounds; i++) {
        if (i % 8 == 0) {
            lock();
            for (int w = 0; w < WORDS; w++) {
                words[w]++;
            }
            atomic_store_explicit(&state, 0, RELEASE);
        } else {
            lock_shared();
            for (int w = 1; w < WORDS; w++) {
                check(words[w] == words[0], "a torn read");
            }
            atomic_fetch_sub_explicit(&state, 1, RELEASE);
        }
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    check(words[0] == (unsigned long)(threads * ((rounds + 7) / 8)), "counter");
    return result(words[0]);
}
