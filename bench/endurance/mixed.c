// A long run of all kinds of operations: threads come and go, others stay, and one place shows a weak behaviour again and again.
// Arguments: operations of the threads that come and go, how many of these there are at a time, and seconds; it ends when both are over, and tells sixty
// times on the way how many operations and threads there were, and its memory in KB.
//
// Each round has new threads for most of the work, in a phase of its own: relaxed, release and acquire, seq_cst, fences, read-modify-writes, plain data
// under a lock and in blocks that are handed over. Two threads stay from the first round to the last one, so that their epochs grow as far as they can.
// `weak` is store buffering with release and acquire: the one finding that there is to be, whenever it is asked for.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CELLS = 256, ROUND = 1000000, MOST = 64 };

static atomic_long cells[CELLS], shared_count;
static atomic_int stop, left, right;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long guarded, done, total;
static int threads;

struct block {
    long number, words[6];
};
static _Atomic(struct block *) mailbox;

static unsigned next(unsigned *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

// Every location is written by seq_cst operations only, or by one thread at a time.
static void seq_cst(unsigned *random, long count) {
    for (long i = 0; i < count; i++) {
        atomic_long *cell = &cells[next(random) % CELLS];
        if (i % 4 == 0) {
            atomic_store(cell, i);
        } else {
            atomic_load(cell);
        }
    }
}

static void fences(unsigned *random, long count) {
    for (long i = 0; i < count; i += 2) {
        atomic_long *cell = &cells[next(random) % CELLS];
        atomic_thread_fence(memory_order_seq_cst);
        if (i % 8 == 0) {
            atomic_store_explicit(cell, i, memory_order_relaxed);
        } else {
            atomic_load_explicit(cell, memory_order_relaxed);
        }
    }
}

static void updates(long count) {
    for (long i = 0; i < count; i++) {
        atomic_fetch_add_explicit(&shared_count, 1, i % 2 ? memory_order_acq_rel : memory_order_relaxed);
    }
}

// Messages in blocks: the plain words of a block belong to whoever has it.
static void messages(long count) {
    struct block *own = 0;
    for (long i = 0; i < count; i += 2) {
        if (!own) {
            own = malloc(sizeof *own);
            memset(own, 0, sizeof *own);
        }
        own->words[i / 2 % 6] = own->number++;
        struct block *got = atomic_exchange_explicit(&mailbox, own, memory_order_acq_rel);
        own = got;
        if (got && got->number % 64 == 0) {
            free(got);
            own = 0;
        }
    }
    free(own);
}

static void locked(long count) {
    for (long i = 0; i < count; i += 2) {
        pthread_mutex_lock(&lock);
        guarded++;
        pthread_mutex_unlock(&lock);
    }
}

static void private_words(long count) {
    atomic_long mine;
    atomic_init(&mine, 0);
    for (long i = 0; i < count; i++) {
        atomic_store_explicit(&mine, i, i % 2 ? memory_order_release : memory_order_relaxed);
    }
}

struct work {
    pthread_t handle;
    int phase, number;
    long count;
};

static void *worker(void *argument) {
    struct work *work = argument;
    unsigned random = work->number * 7919 + work->phase + 1;
    switch (work->phase % 6) {
    case 0: seq_cst(&random, work->count); break;
    case 1: fences(&random, work->count); break;
    case 2: updates(work->count); break;
    case 3: messages(work->count); break;
    case 4: locked(work->count / 8); break;
    case 5: private_words(work->count); break;
    }
    return 0;
}

// They stay: one writes epochs away, the other one reads along.
static atomic_long beat;
static void *writer(void *argument) {
    (void)argument;
    long made = 0;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        atomic_store_explicit(&beat, ++made, memory_order_release);
    }
    return (void *)made;
}
static void *reader(void *argument) {
    (void)argument;
    long made = 0, last = 0;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        long now = atomic_load_explicit(&beat, memory_order_acquire);
        if (now < last) {
            abort();
        }
        last = now;
        made++;
    }
    return (void *)made;
}

static int seen[2];
static void *weak(void *side) {
    atomic_int *mine = side ? &right : &left, *other = side ? &left : &right;
    atomic_store_explicit(mine, 1, memory_order_release);
    seen[side != 0] = atomic_load_explicit(other, memory_order_acquire);
    return 0;
}

static long memory(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1) {
        pages = 0;
    }
    if (file) {
        fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv) {
    total = argc > 3 ? atol(argv[1]) : 0;
    threads = argc > 3 ? atoi(argv[2]) : 0;
    long seconds = argc > 3 ? atol(argv[3]) : 0;
    if (total < ROUND || threads < 1 || threads > MOST) {
        fprintf(stderr, "usage: mixed OPERATIONS THREADS SECONDS\n");
        return 2;
    }
    pthread_t stay[2];
    pthread_create(&stay[0], 0, writer, 0);
    pthread_create(&stay[1], 0, reader, 0);
    static struct work works[MOST];
    long rounds = 0, shown = 0;
    time_t start = time(0);
    while (done < total || time(0) - start < seconds) {
        for (int i = 0; i < threads; i++) {
            works[i] = (struct work){.phase = rounds, .number = i, .count = ROUND / threads};
            pthread_create(&works[i].handle, 0, worker, &works[i]);
        }
        for (int i = 0; i < threads; i++) {
            pthread_join(works[i].handle, 0);
        }
        atomic_store(&left, 0);
        atomic_store(&right, 0);
        pthread_t sides[2];
        pthread_create(&sides[0], 0, weak, 0);
        pthread_create(&sides[1], 0, weak, (void *)1);
        pthread_join(sides[0], 0);
        pthread_join(sides[1], 0);
        rounds++;
        done += ROUND;
        // Sixty times in all: whichever of the two is farther from its end.
        long part = 60 * done / total, passed = seconds ? 60 * (time(0) - start) / seconds : 60;
        if ((part < passed ? part : passed) != shown) {
            shown = part < passed ? part : passed;
            printf("%ld %ld %ld\n", done, rounds * (threads + 2) + 2, memory());
            fflush(stdout);
        }
    }
    atomic_store_explicit(&stop, 1, memory_order_relaxed);
    void *made[2];
    pthread_join(stay[0], &made[0]);
    pthread_join(stay[1], &made[1]);
    printf("%ld operations and %ld + %ld of those who stay, %ld KB\n", done, (long)made[0], (long)made[1], memory());
    return 0;
}
