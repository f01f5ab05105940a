// A thread peeks at a counter outside the lock for statistics it never uses, then works under the
// lock.

max_value 3;
global m, counter, other;

fn p1 {
    local peek, c;
    other.store(1, rlx);
    peek = counter.load(rlx);
    peek = other.load(rlx);
    lock(m);
    c = counter.load(rlx);
    counter.store(c + 1, rlx);
    unlock(m);
}

fn p2 {
    local peek, c;
    other.store(2, rlx);
    peek = counter.load(rlx);
    peek = other.load(rlx);
    lock(m);
    c = counter.load(rlx);
    counter.store(c + 1, rlx);
    unlock(m);
}
