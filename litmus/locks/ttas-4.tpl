// Test and test-and-set spinlock (Rudolph and Segall, ISCA 1984), polling relaxed, four endless
// threads.

max_value 3;
global held;
na shared;

fn p0 {
    local old, s;
    while (1) {
        again: old = held.load(rlx);
        if (old == 1) goto again;
        old = CAS(held, 0, 1, acq, rlx);
        if (old == 1) goto again;
        shared.nastore(0);
        s = shared.naload();
        assert(s == 0);
        held.store(0, rel);
    }
}

fn p1 {
    local old, s;
    while (1) {
        again: old = held.load(rlx);
        if (old == 1) goto again;
        old = CAS(held, 0, 1, acq, rlx);
        if (old == 1) goto again;
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        held.store(0, rel);
    }
}

fn p2 {
    local old, s;
    while (1) {
        again: old = held.load(rlx);
        if (old == 1) goto again;
        old = CAS(held, 0, 1, acq, rlx);
        if (old == 1) goto again;
        shared.nastore(2);
        s = shared.naload();
        assert(s == 2);
        held.store(0, rel);
    }
}

fn p3 {
    local old, s;
    while (1) {
        again: old = held.load(rlx);
        if (old == 1) goto again;
        old = CAS(held, 0, 1, acq, rlx);
        if (old == 1) goto again;
        shared.nastore(3);
        s = shared.naload();
        assert(s == 3);
        held.store(0, rel);
    }
}
