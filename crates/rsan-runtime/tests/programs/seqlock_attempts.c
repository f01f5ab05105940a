// findings: violation violation violation
// A reader of a sequence lock that gives up after three attempts. The stale value of one attempt is out of reach in the next one, which has
// acquired the lock's number: what it leads to there, were it read again, is not what the program does.
#include "spin.h"

static atomic_uint sequence;
static atomic_int first, second;
static atomic_int result;

static void *writer(void *_) {
    wait_for_turn(1);
    for (int i = 1; i <= 2; i++) {
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
    int sum = 0;
    for (int attempt = 0; attempt < 3; attempt++) {
        unsigned before = LOAD(sequence, acquire);
        if (attempt == 0) {
            end_of_turn();
            take_hint(2);
        }
        int a = LOAD(first, relaxed);
        int b = LOAD(second, relaxed);
        atomic_thread_fence(memory_order_acquire);
        unsigned after = LOAD(sequence, relaxed);
        if (before & 1 || before != after) continue;
        sum += a;
        sum += b;
        STORE(result, a == b ? 1 : 2, release);
    }
    return sum ? 0 : (abort(), NULL);
}

int main(void) {
    RUN(writer, reader);
    return LOAD(result, relaxed) != 1;
}
