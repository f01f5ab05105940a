// findings: none
// waits: 1
// A reader of a seqlock that may see an old sequence number: with the data that are there, it notices and tries again.
// (With old data it would not. That is missed here: other locations have their present values.)
#include "spin.h"

static atomic_uint sequence;
static atomic_int first, second;

static void *writer(void *_) {
    for (int i = 1; i <= 3; i++) {
        unsigned old = LOAD(sequence, relaxed);
        STORE(sequence, old + 1, relaxed);
        atomic_thread_fence(memory_order_release);
        STORE(first, i, relaxed);
        STORE(second, i, relaxed);
        STORE(sequence, old + 2, release);
    }
    give_hint();
    return 0;
}

static void *reader(void *_) {
    take_hint(1);
    unsigned before, after;
    int a, b;
    do {
        before = LOAD(sequence, acquire);
        a = LOAD(first, relaxed);
        b = LOAD(second, relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = LOAD(sequence, relaxed);
    } while (before & 1 || before != after);
    return a == 3 && b == 3 ? 0 : (abort(), NULL);
}

int main(void) {
    RUN(writer, reader);
    return 0;
}
