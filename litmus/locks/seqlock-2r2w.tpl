// Sequence lock (Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012),
// two writers of two rounds each, two endless readers; every access release/acquire, which RA assumes
// anyway.

max_value 12;
global version, left, right;
track version: all;

fn writer0 {
    local seq, old, k;
    while (k < 2) {
        k = k + 1;
        again: seq = version.load(acq);
        if (seq % 2 == 1) goto again;
        old = CAS(version, seq, seq + 1, acq, rel);
        if (old != seq) goto again;
        left.store(2 * k + 0, rel);
        right.store(2 * k + 0, rel);
        version.store(seq + 2, rel);
    }
}

fn writer1 {
    local seq, old, k;
    while (k < 2) {
        k = k + 1;
        again: seq = version.load(acq);
        if (seq % 2 == 1) goto again;
        old = CAS(version, seq, seq + 1, acq, rel);
        if (old != seq) goto again;
        left.store(2 * k + 1, rel);
        right.store(2 * k + 1, rel);
        version.store(seq + 2, rel);
    }
}

fn reader0 {
    local before, after, l, r;
    while (1) {
        again: before = version.load(acq);
        if (before % 2 == 1) goto again;
        l = left.load(acq);
        r = right.load(acq);
        after = version.load(acq);
        if (before != after) goto again;
        assert(l == r);
    }
}

fn reader1 {
    local before, after, l, r;
    while (1) {
        again: before = version.load(acq);
        if (before % 2 == 1) goto again;
        l = left.load(acq);
        r = right.load(acq);
        after = version.load(acq);
        if (before != after) goto again;
        assert(l == r);
    }
}
