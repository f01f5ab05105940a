// Test-and-set spinlock that waits for the lock to be free before it tries again (Owens, ECOOP 2010,
// has the Linux form), four threads; acquire only when the lock is taken, release only when it is
// freed.

max_value 3;
global held;
na shared;

fn p0 {
    local old, s;
    while (1) {
        old = exchange(held, 1, acq, rlx);
        if (old == 0) {
            shared.nastore(0);
            s = shared.naload();
            assert(s == 0);
            held.store(0, rel);
        } else {
            wait(held, 0, rlx);
        }
    }
}

fn p1 {
    local old, s;
    while (1) {
        old = exchange(held, 1, acq, rlx);
        if (old == 0) {
            shared.nastore(1);
            s = shared.naload();
            assert(s == 1);
            held.store(0, rel);
        } else {
            wait(held, 0, rlx);
        }
    }
}

fn p2 {
    local old, s;
    while (1) {
        old = exchange(held, 1, acq, rlx);
        if (old == 0) {
            shared.nastore(2);
            s = shared.naload();
            assert(s == 2);
            held.store(0, rel);
        } else {
            wait(held, 0, rlx);
        }
    }
}

fn p3 {
    local old, s;
    while (1) {
        old = exchange(held, 1, acq, rlx);
        if (old == 0) {
            shared.nastore(3);
            s = shared.naload();
            assert(s == 3);
            held.store(0, rel);
        } else {
            wait(held, 0, rlx);
        }
    }
}
