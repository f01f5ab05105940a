// Ring between one producer and one consumer. Argument: items.
#include "bench.h"

enum { SIZE = 1024 };

static unsigned long ring[SIZE];
static _Alignas(LINE) atomic_ulong written;
static _Alignas(LINE) atomic_ulong taken;
static unsigned long sum;
static long items;

static void body(int thread) {
    unsigned waits = 0;
    for (unsigned long i = 0; i < (unsigned long)items; i++) {
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
