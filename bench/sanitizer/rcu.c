// Read-copy-update with quiescent states: one writer replaces a record, waits for a grace period and frees the old
// one; the others read. Arguments: threads, rounds of each reader.
#include "bench.h"

enum { WORDS = 8, READS = 64 };

struct record {
    unsigned long words[WORDS];
};

struct reader {
    _Alignas(LINE) atomic_ulong seen;
};

static _Atomic(struct record *) current;
static _Alignas(LINE) atomic_ulong phase;
static struct reader readers[MAX_THREADS];
static int threads;
static long rounds;

static struct record *fresh(unsigned long value) {
    struct record *record = malloc(sizeof *record);
    check(record != 0, "memory");
    for (int i = 0; i < WORDS; i++) {
        record->words[i] = value;
    }
    return record;
}

static void write_all(void) {
    for (long i = 1; i <= rounds; i++) {
        unsigned waits = 0;
        struct record *old = atomic_load_explicit(&current, RELAXED);
        atomic_store_explicit(&current, fresh(i), RELEASE);
        atomic_store_explicit(&phase, i, RELEASE);
        for (int r = 1; r < threads; r++) {
            while (atomic_load_explicit(&readers[r].seen, ACQUIRE) < (unsigned long)i) {
                relax(&waits);
            }
        }
        free(old);
    }
}

static void read_all(int thread) {
    unsigned long now = 0, last = 0;
    while (now < (unsigned long)rounds) {
        for (int i = 0; i < READS; i++) {
            struct record *record = atomic_load_explicit(&current, ACQUIRE);
            unsigned long value = record->words[i % WORDS];
            check(value >= last, "an old record");
            last = value;
        }
        unsigned long next = atomic_load_explicit(&phase, ACQUIRE);
        // Not again: a repeated store could be missed by the writer, who has gone on meanwhile.
        if (next != now) {
            now = next;
            atomic_store_explicit(&readers[thread].seen, now, RELEASE);
        }
        sched_yield();
    }
}

static void body(int thread) {
    if (thread == 0) {
        write_all();
    } else {
        read_all(thread);
    }
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 1, 2, MAX_THREADS);
    rounds = argument(argc, argv, 2, 1, 1000000000);
    atomic_init(&current, fresh(0));
    run_threads(threads, body);
    struct record *last = atomic_load(&current);
    unsigned long value = last->words[0];
    free(last);
    return result(value);
}
