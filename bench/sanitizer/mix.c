// Atomic operations on random locations. Arguments: threads, locations, operations of all threads together, the orders
// (relaxed, acqrel, seqcst, or fences: relaxed with a seq_cst fence before each), and the operations (loads: one in ten
// is a store; stores: every second; updates: one load, one store, two read-modify-writes; private: as stores, but each
// thread on locations of its own).
//
// With relaxed or acqrel orders, shared locations and stores, weak behaviours are possible: a thread may write one
// location and read an old value of another, as may the next. Findings there are true.
#include "bench.h"

enum orders { ORDER_RELAXED, ORDER_ACQREL, ORDER_SEQCST, ORDER_FENCES };
enum kinds { KIND_LOADS, KIND_STORES, KIND_UPDATES, KIND_PRIVATE };

static atomic_ulong *cells;
static int threads;
static long locations, operations;
static enum orders orders;
static enum kinds kinds;
static unsigned long updates[MAX_THREADS];

#define MIX(name, load_order, store_order, rmw_order, fence)                                                           \
    static unsigned long name(int thread, long count, long base, long size) {                                          \
        uint32_t random = thread + 1;                                                                                  \
        unsigned long done = 0;                                                                                        \
        atomic_ulong *mine = cells + base;                                                                             \
        enum kinds kind = kinds;                                                                                       \
        for (long i = 0; i < count; i++) {                                                                             \
            atomic_ulong *cell = &mine[next_random(&random) % size];                                                       \
            fence;                                                                                                     \
            if (kind == KIND_UPDATES && i % 2) {                                                                       \
                atomic_fetch_add_explicit(cell, 1, rmw_order);                                                         \
                done++;                                                                                                \
            } else if (kind == KIND_LOADS ? i % 10 == 0 : kind == KIND_UPDATES ? i % 4 == 0 : i % 2) {                 \
                atomic_store_explicit(cell, i, store_order);                                                           \
            } else {                                                                                                   \
                atomic_load_explicit(cell, load_order);                                                                \
            }                                                                                                          \
        }                                                                                                              \
        return done;                                                                                                   \
    }

MIX(mix_relaxed, RELAXED, RELAXED, RELAXED, (void)0)
MIX(mix_acqrel, ACQUIRE, RELEASE, ACQ_REL, (void)0)
MIX(mix_seqcst, SEQ_CST, SEQ_CST, SEQ_CST, (void)0)
MIX(mix_fences, RELAXED, RELAXED, RELAXED, atomic_thread_fence(SEQ_CST))

static void body(int thread) {
    long count = operations / threads, size = locations, base = 0;
    if (kinds == KIND_PRIVATE) {
        size = locations / threads ? locations / threads : 1;
        base = thread * size;
    }
    switch (orders) {
    case ORDER_RELAXED:
        updates[thread] = mix_relaxed(thread, count, base, size);
        break;
    case ORDER_ACQREL:
        updates[thread] = mix_acqrel(thread, count, base, size);
        break;
    case ORDER_SEQCST:
        updates[thread] = mix_seqcst(thread, count, base, size);
        break;
    case ORDER_FENCES:
        updates[thread] = mix_fences(thread, count, base, size);
        break;
    }
}

static int choice(int argc, char **argv, int index, const char *const *names, int count) {
    for (int i = 0; i < count && index < argc; i++) {
        if (strcmp(argv[index], names[i]) == 0) {
            return i;
        }
    }
    fprintf(stderr, "argument %d is not known\n", index);
    exit(2);
}

int main(int argc, char **argv) {
    static const char *const order_names[] = {"relaxed", "acqrel", "seqcst", "fences"};
    static const char *const kind_names[] = {"loads", "stores", "updates", "private"};
    threads = argument(argc, argv, 1, 1, MAX_THREADS);
    locations = argument(argc, argv, 2, 1, 100000000);
    operations = argument(argc, argv, 3, 1, 10000000000);
    orders = choice(argc, argv, 4, order_names, 4);
    kinds = choice(argc, argv, 5, kind_names, 4);
    cells = calloc(locations + MAX_THREADS, sizeof *cells);
    check(cells != 0, "memory");
    run_threads(threads, body);
    free(cells);
    unsigned long sum = 0;
    for (int i = 0; i < threads; i++) {
        sum += updates[i];
    }
    return result(sum + operations);
}
