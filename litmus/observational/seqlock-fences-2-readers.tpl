// Sequence lock (Boehm, MSPC 2012), one writer of two rounds, two endless readers; fences as in
// seqlock-fences.tpl.

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
    local before, after, l, r;
    while (1) {
        again: before = version.load(acq);
        if (before % 2 == 1) goto again;
        l = left.load(rlx);
        r = right.load(rlx);
        fence(acq);
        after = version.load(rlx);
        if (before != after) goto again;
        assert(l == r);
    }
}

fn reader2 {
    local before, after, l, r;
    while (1) {
        again: before = version.load(acq);
        if (before % 2 == 1) goto again;
        l = left.load(rlx);
        r = right.load(rlx);
        fence(acq);
        after = version.load(rlx);
        if (before != after) goto again;
        assert(l == r);
    }
}
