// Reader-writer spinlock in one word, readers add 1, a writer adds 8 when it is 0 (after
// Mellor-Crummey and Scott, PPoPP 1991, the centralised form), endless. Readers leave with a relaxed
// decrement: their reads race with the next writer.

max_value 15;
global state;
na shared;

fn reader0 {
    local n, s;
    while (1) {
        again: n = FADD(state, 1, acq, rlx);
        if (n >= 8) {
            n = FADD(state, -1, rlx, rlx);
            goto again;
        }
        s = shared.naload();
        n = FADD(state, -1, rlx, rlx);
    }
}

fn writer0 {
    local old;
    while (1) {
        old = CAS(state, 0, 8, acq, rlx);
        if (old == 0) {
            shared.nastore(0);
            old = FADD(state, -8, rlx, rel);
        }
    }
}
