// Sequence lock (Boehm, MSPC 2012), one writer of two rounds, one endless reader; as
// seqlock-rmw-read.tpl, but the writer makes the version odd by a store: the reader's CAS may be put
// before it, and a torn pair is used.

max_value 5;
global version, left, right;
track version: all;

fn writer {
    local k, v;
    while (k < 2) {
        k = k + 1;
        v = version.load(rlx);
        version.store(v + 1, rlx);
        fence(rel);
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
