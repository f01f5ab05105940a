// findings: none
// Plain variables in the eight bytes of an atomic one that other threads use; and an atomic one that its users hand over.
#include "turn.h"

static struct {
    atomic_int shared;
    int plain;
} pair;

static struct {
    atomic_ushort one, two;
    atomic_int ready;
} parts;

static void *counter(void *_) {
    for (int i = 0; i < 1000; i++) atomic_fetch_add(&pair.shared, 1);
    return 0;
}

static void *owner(void *_) {
    for (int i = 0; i < 1000; i++) {
        pair.plain++;
        LOAD(pair.shared, relaxed);
    }
    return 0;
}

static void *giver(void *_) {
    STORE(parts.one, 1, relaxed);
    LOAD(parts.two, relaxed);
    STORE(parts.ready, 1, release);
    return 0;
}

static void *taker(void *_) {
    while (!LOAD(parts.ready, acquire)) sched_yield();
    *(unsigned short *)&parts.one = 2;
    *(unsigned short *)&parts.two = 2;
    return 0;
}

int main(void) {
    RUN(counter, owner, counter, giver, taker);
    return pair.plain + pair.shared - 3000;
}
