// Ring between one producer and one consumer without shared counters: a slot is empty while it is 0. Argument: items.
//
// Not robust in the strict sense, but an old value only lets a busy-wait go round once more, which is no finding.
#include "bench.h"

enum { SIZE = 1024 };

static atomic_ulong ring[SIZE];
static unsigned long sum;
static long items;

static void body(int thread) {
    for (long i = 1; i <= items; i++) {
        unsigned waits = 0;
        atomic_ulong *slot = &ring[i % SIZE];
        unsigned long item;
        if (thread == 0) {
            while (atomic_load_explicit(slot, ACQUIRE)) {
                relax(&waits);
            }
            atomic_store_explicit(slot, i, RELEASE);
        } else {
            while (!(item = atomic_load_explicit(slot, ACQUIRE))) {
                relax(&waits);
            }
            sum += item;
            atomic_store_explicit(slot, 0, RELEASE);
        }
    }
}

int main(int argc, char **argv) {
    items = argument(argc, argv, 1, 1, 1000000000);
    run_threads(2, body);
    check(sum == (unsigned long)items * (items + 1) / 2, "sum");
    return result(sum);
}
