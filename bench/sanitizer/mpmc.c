// Bounded queue of many producers and consumers: each cell has the number of its turn. Arguments: threads (half of them
// produce), items of each producer.
//
// Not robust: a thread stores the turn of one cell and then loads a position or the turn of another, as does the next,
// and both may read old values. That does no harm, since the compare-and-swap of a position that is no longer free fails;
// findings are true.
#include "bench.h"

enum { SIZE = 256 };

struct cell {
    atomic_ulong turn;
    unsigned long item;
};

static struct cell cells[SIZE];
static _Alignas(LINE) atomic_ulong written;
static _Alignas(LINE) atomic_ulong taken;
static atomic_ulong total;
static long items;

// Takes the next position at which the cell's turn is `ahead` of it.
static unsigned long claim(atomic_ulong *end, unsigned long ahead) {
    unsigned waits = 0;
    unsigned long at = atomic_load_explicit(end, ACQUIRE);
    for (;;) {
        unsigned long turn = atomic_load_explicit(&cells[at % SIZE].turn, ACQUIRE);
        if (turn == at + ahead) {
            if (atomic_compare_exchange_strong_explicit(end, &at, at + 1, ACQ_REL, ACQUIRE)) {
                return at;
            }
        } else {
            relax(&waits);
            at = atomic_load_explicit(end, ACQUIRE);
        }
    }
}

static void body(int thread) {
    unsigned long sum = 0;
    for (long i = 0; i < items; i++) {
        int produces = thread % 2 == 0;
        unsigned long at = produces ? claim(&written, 0) : claim(&taken, 1);
        struct cell *cell = &cells[at % SIZE];
        if (produces) {
            cell->item = i;
            atomic_store_explicit(&cell->turn, at + 1, RELEASE);
        } else {
            sum += cell->item;
            atomic_store_explicit(&cell->turn, at + SIZE, RELEASE);
        }
    }
    atomic_fetch_add_explicit(&total, sum, ACQ_REL);
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 2, MAX_THREADS) & ~1;
    items = argument(argc, argv, 2, 1, 1000000000);
    for (unsigned long i = 0; i < SIZE; i++) {
        atomic_init(&cells[i].turn, i);
    }
    run_threads(threads, body);
    unsigned long sum = atomic_load(&total);
    check(sum == (unsigned long)(threads / 2) * items * (items - 1) / 2, "sum");
    return result(sum);
}
