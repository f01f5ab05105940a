// Sequence lock: one writer, the others read. Arguments: threads, rounds of each.
#include "bench.h"

static _Alignas(LINE) atomic_uint version;
static atomic_ulong left, right;
static long rounds;

static void write_once(unsigned long value) {
    unsigned now = atomic_load_explicit(&version, ACQUIRE);
    atomic_exchange_explicit(&version, now + 1, ACQ_REL);
    atomic_store_explicit(&left, value, RELEASE);
    atomic_store_explicit(&right, value, RELEASE);
    atomic_store_explicit(&version, now + 2, RELEASE);
}

static unsigned long read_once(void) {
    unsigned waits = 0;
    for (;; relax(&waits)) {
        unsigned before = atomic_load_explicit(&version, ACQUIRE);
        if (before % 2 == 0) {
            unsigned long l = atomic_load_explicit(&left, ACQUIRE);
            unsigned long r = atomic_load_explicit(&right, ACQUIRE);
            if (atomic_load_explicit(&version, ACQUIRE) == before) {
                check(l == r, "a torn read");
                return l;
            }
        }
    }
}

static void body(int thread) {
    unsigned long last = 0;
    for (long i = 1; i <= rounds; i++) {
        if (thread == 0) {
            write_once(i);
        } else {
            unsigned long now = read_once();
            check(now >= last, "an old value");
            last = now;
        }
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 2, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    run_threads(threads, body);
    return result(read_once());
}
