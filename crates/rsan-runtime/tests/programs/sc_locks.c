// findings: none
// tsan: none
// The classic locks, written with seq_cst alone, under whatever schedule there is: Dekker, Peterson, and the bakery
// for three.
#include "turn.h"

enum { ROUNDS = 200, CUSTOMERS = 3 };
static atomic_int wants[2], turn;
static atomic_int interested[2], victim;
static atomic_int choosing[CUSTOMERS], number[CUSTOMERS];
static int by_dekker, by_peterson, by_bakery;

static void dekker(int me) {
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store(&wants[me], 1);
        while (atomic_load(&wants[1 - me])) {
            if (atomic_load(&turn) != me) {
                atomic_store(&wants[me], 0);
                while (atomic_load(&turn) != me) sched_yield();
                atomic_store(&wants[me], 1);
            }
        }
        by_dekker++;
        atomic_store(&turn, 1 - me);
        atomic_store(&wants[me], 0);
    }
}

static void peterson(int me) {
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store(&interested[me], 1);
        atomic_store(&victim, me);
        while (atomic_load(&interested[1 - me]) && atomic_load(&victim) == me) sched_yield();
        by_peterson++;
        atomic_store(&interested[me], 0);
    }
}

static void bakery(int me) {
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store(&choosing[me], 1);
        int most = 0;
        for (int k = 0; k < CUSTOMERS; k++) {
            int n = atomic_load(&number[k]);
            if (n > most) most = n;
        }
        atomic_store(&number[me], most + 1);
        atomic_store(&choosing[me], 0);
        for (int k = 0; k < CUSTOMERS; k++) {
            while (atomic_load(&choosing[k])) sched_yield();
            for (;;) {
                int n = atomic_load(&number[k]);
                if (!n || n > most + 1 || (n == most + 1 && k >= me)) break;
                sched_yield();
            }
        }
        by_bakery++;
        atomic_store(&number[me], 0);
    }
}

static void *first(void *_) { dekker(0), peterson(0), bakery(0); return 0; }
static void *second(void *_) { dekker(1), peterson(1), bakery(1); return 0; }
static void *third(void *_) { bakery(2); return 0; }

int main(void) {
    RUN(first, second, third);
    return by_dekker == 2 * ROUNDS && by_peterson == 2 * ROUNDS && by_bakery == CUSTOMERS * ROUNDS ? 0 : 1;
}
