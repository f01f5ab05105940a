// findings: none
// A location that is written very often, by one thread while the other waits for its end, and in turns. Memory
// does not grow by it, whether logs are kept whole or not.
#include "turn.h"
#include <unistd.h>

enum { ROUNDS = 40, WRITES = 5000, MOST_KIB = 6000 };

static atomic_int x, turn;

static long resident_kib(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %ld", &pages) != 1) abort();
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void write_often(void) {
    for (int i = 0; i < WRITES; i++) STORE(x, i, relaxed);
}

static void *alone(void *_) {
    for (int i = 0; i < ROUNDS; i++) write_often();
    return 0;
}

static void take_turns(int me) {
    for (int i = 0; i < ROUNDS; i++) {
        while (LOAD(turn, acquire) != me) sched_yield();
        write_often();
        STORE(turn, !me, release);
    }
}

static void *even(void *_) {
    take_turns(0);
    return 0;
}

static void *odd(void *_) {
    take_turns(1);
    return 0;
}

int main(void) {
    write_often();
    RUN(alone);
    long before = resident_kib();
    RUN(alone);
    RUN(even, odd);
    long more = resident_kib() - before;
    if (more > MOST_KIB) fprintf(stderr, "%ld KiB more\n", more);
    return more <= MOST_KIB ? 0 : 1;
}
