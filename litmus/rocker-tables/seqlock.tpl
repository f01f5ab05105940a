// Sequence lock (Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012),
// three threads that each either write (up to four rounds) or read; every access release/acquire, which
// RA assumes anyway.
// Search depth that Rocker needs, as a power of ten: spin_depth 7

max_value 30;
global version, left, right;
track version: all;

fn peer0 {
    local k, seq, old, before, after, l, r;
    while (k < 4) {
        oneof({
            k = k + 1;
            take: seq = version.load(acq);
            if (seq % 2 == 1) goto take;
            old = CAS(version, seq, seq + 1, acq, rel);
            if (old != seq) goto take;
            left.store(k, rel);
            right.store(k, rel);
            version.store(seq + 2, rel);
        } {
            look: before = version.load(acq);
            if (before % 2 == 1) goto look;
            l = left.load(acq);
            r = right.load(acq);
            after = version.load(acq);
            if (before != after) goto look;
            assert(l == r);
        });
    }
}

fn peer1 {
    local k, seq, old, before, after, l, r;
    while (k < 4) {
        oneof({
            k = k + 1;
            take: seq = version.load(acq);
            if (seq % 2 == 1) goto take;
            old = CAS(version, seq, seq + 1, acq, rel);
            if (old != seq) goto take;
            left.store(k, rel);
            right.store(k, rel);
            version.store(seq + 2, rel);
        } {
            look: before = version.load(acq);
            if (before % 2 == 1) goto look;
            l = left.load(acq);
            r = right.load(acq);
            after = version.load(acq);
            if (before != after) goto look;
            assert(l == r);
        });
    }
}

fn peer2 {
    local k, seq, old, before, after, l, r;
    while (k < 4) {
        oneof({
            k = k + 1;
            take: seq = version.load(acq);
            if (seq % 2 == 1) goto take;
            old = CAS(version, seq, seq + 1, acq, rel);
            if (old != seq) goto take;
            left.store(k, rel);
            right.store(k, rel);
            version.store(seq + 2, rel);
        } {
            look: before = version.load(acq);
            if (before % 2 == 1) goto look;
            l = left.load(acq);
            r = right.load(acq);
            after = version.load(acq);
            if (before != after) goto look;
            assert(l == r);
        });
    }
}
