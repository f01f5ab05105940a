// Ring between one producer and one consumer, each with a counter that the other reads. Argument: items.
//
// Not robust: each stores its own counter and loads the other's, and both may read an old value. That does no harm, since
// an old value only makes the ring look fuller, or emptier, than it is; findings are true. `slots.c` is a ring without
// that.
#include "bench.h"

enum { SIZE = 1024 };

static unsigned long ring[SIZE];
static _Alignas(LINE) atomic_ulong written;
static _Alignas(LINE) atomic_ulong taken;
static unsigned long sum;
static long items;

static void body(int thread) {
    for (unsigned long i = 0; i < (unsigned long)items; i++) {
        unsigned waits = 0;
        if (thread == 0) {
            while (i - atomic_load_explicit(&taken, ACQUIRE) == SIZE) {
                relax(&waits);
            }
            ring[i % SIZE] = i;
            atomic_store_explicit(&written, i + 1, RELEASE);
        } else {
            while (atomic_load_explicit(&written, ACQUIRE) == i) {
                relax(&waits);
            }
            sum += ring[i % SIZE];
            atomic_store_explicit(&taken, i + 1, RELEASE);
        }
    }
}

int main(int argc, char **argv) {
    items = argument(argc, argv, 1, 1, 1000000000);
    run_threads(2, body);
    check(sum == (unsigned long)items * (items - 1) / 2, "sum");
    return result(sum);
}
