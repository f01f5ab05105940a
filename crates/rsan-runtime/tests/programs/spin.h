// Accesses that could be stale: who sees the hint knows in every sequentially consistent order all that was done before
// it, but nothing of it happens before what he does next.
#include "turn.h"

static atomic_int hint;

static inline void give_hint(void) {
    STORE(hint, 1, relaxed);
    end_of_turn();
}

static inline void take_hint(int turn) {
    wait_for_turn(turn);
    if (LOAD(hint, relaxed) != 1) abort();
}
