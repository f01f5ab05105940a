// Store buffering and message passing with relaxed atomics, all inside one mutex: the lock orders
// everything.

max_value 1;
global m, x, y;

fn p0 {
    local r;
    lock(m);
    x.store(1, rlx);
    r = y.load(rlx);
    unlock(m);
    verify(r);
}

fn p1 {
    local r;
    lock(m);
    y.store(1, rlx);
    r = x.load(rlx);
    unlock(m);
    verify(r);
}
