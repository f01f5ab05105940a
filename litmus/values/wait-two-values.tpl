// A thread that may pass on either of two values, and learns which: the third value is not stale for
// it.

max_value 3;
global x, y;

fn p0 {
    local r;
    x.store(1, rel);
    r = wait(y, 1, 2, acq);
    assert(r != 0);
}

fn p1 {
    oneof({
        y.store(1, rel);
    } {
        y.store(2, rel);
    });
    wait(x, 1, acq);
}
