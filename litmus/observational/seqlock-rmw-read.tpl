// Sequence lock (Boehm, MSPC 2012), one writer of two rounds, one endless reader; the version is
// confirmed by a read-don't-modify-write (a blocking CAS to the same value), Boehm's alternative to
// the fence. The writer makes the version odd by an RMW, so an old even version can't be updated.

max_value 5;
global version, left, right;
track version: all;

fn writer {
    local k, v;
    while (k < 2) {
        k = k + 1;
        v = FADD(version, 1, acq, rlx);
        left.store(k, rlx);
        right.store(k, rlx);
        version.store(v + 2, rel);
    }
}

fn reader1 {
    local before, l, r;
    while (1) {
        again: before = version.load(acq);
        if (before % 2 == 1) goto again;
        l = left.load(rlx);
        r = right.load(rlx);
        BCAS(version, before, before, rlx, rel);
        assert(l == r);
    }
}
