// Sequence lock (Boehm, MSPC 2012), one writer of two rounds, one endless reader; the data itself is
// written with release and read with acquire, no fences: robust.

max_value 5;
global version, left, right;
track version: all;

fn writer {
    local k, v;
    while (k < 2) {
        k = k + 1;
        v = version.load(rlx);
        version.store(v + 1, rlx);
        left.store(k, rel);
        right.store(k, rel);
        version.store(v + 2, rel);
    }
}

fn reader1 {
    local before, after, l, r;
    while (1) {
        again: before = version.load(acq);
        if (before % 2 == 1) goto again;
        l = left.load(acq);
        r = right.load(acq);
        after = version.load(rlx);
        if (before != after) goto again;
        assert(l == r);
    }
}
