// A flag that is written inside a mutex and peeked at, relaxed, outside of it: what is then read
// outside may be stale.

max_value 1;
global m, data, ready;

fn writer {
    lock(m);
    data.store(1, rlx);
    ready.store(1, rlx);
    unlock(m);
}

fn reader {
    local r, d;
    r = ready.load(rlx);
    if (r == 1) {
        d = data.load(rlx);
        verify(d);
    }
}
