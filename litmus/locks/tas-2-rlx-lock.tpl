// Test-and-set spinlock (the textbook one; Anderson, IEEE TPDS 1(1), 1990, measures it), two endless
// threads; the exchange is relaxed, so the data of the critical section races.

max_value 3;
global held;
na shared;

fn p0 {
    local old, s;
    while (1) {
        old = exchange(held, 1, rlx, rlx);
        while (old == 1) {
            old = exchange(held, 1, rlx, rlx);
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
        old = exchange(held, 1, rlx, rlx);
        while (old == 1) {
            old = exchange(held, 1, rlx, rlx);
        }
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        held.store(0, rel);
    }
}
