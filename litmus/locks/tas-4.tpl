// Test-and-set spinlock (the textbook one; Anderson, IEEE TPDS 1(1), 1990, measures it), four endless
// threads; acquire exchange, release store.

max_value 3;
global held;
na shared;

fn p0 {
    local old, s;
    while (1) {
        old = exchange(held, 1, acq, rlx);
        while (old == 1) {
            old = exchange(held, 1, acq, rlx);
        }
        shared.nastore(0);
        s = shared.naload();
        assert(s == 0);
        held.store(0, rel);
    }
}

fn p1 {
    local old, s;
    while (1) {
        old = exchange(held, 1, acq, rlx);
        while (old == 1) {
            old = exchange(held, 1, acq, rlx);
        }
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        held.store(0, rel);
    }
}

fn p2 {
    local old, s;
    while (1) {
        old = exchange(held, 1, acq, rlx);
        while (old == 1) {
            old = exchange(held, 1, acq, rlx);
        }
        shared.nastore(2);
        s = shared.naload();
        assert(s == 2);
        held.store(0, rel);
    }
}

fn p3 {
    local old, s;
    while (1) {
        old = exchange(held, 1, acq, rlx);
        while (old == 1) {
            old = exchange(held, 1, acq, rlx);
        }
        shared.nastore(3);
        s = shared.naload();
        assert(s == 3);
        held.store(0, rel);
    }
}
