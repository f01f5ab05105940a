// Sequence lock (Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012),
// three threads that each either write (up to four rounds) or read; data relaxed, ordered by fences.
// The reader may read stale data, but then it retries without having used it: only observationally
// robust.
// Search depth that Rocker needs, as a power of ten: spin_depth 7

max_value 30;
global version, left, right;
track version: all;

fn peer0 {
    local k, seq, old, before, after, l, r;
    while (k < 4) {
        oneof({
            k = k + 1;
            take: seq = version.load(rlx);
            if (seq % 2 == 1) goto take;
            old = CAS(version, seq, seq + 1, rlx, rlx);
            if (old != seq) goto take;
            fence(acq_rel);
            left.store(k, rlx);
            right.store(k, rlx);
            version.store(seq + 2, rel);
        } {
            look: before = version.load(acq);
            if (before % 2 == 1) goto look;
            l = left.load(rlx);
            r = right.load(rlx);
            fence(acq);
            after = version.load(rlx);
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
            take: seq = version.load(rlx);
            if (seq % 2 == 1) goto take;
            old = CAS(version, seq, seq + 1, rlx, rlx);
            if (old != seq) goto take;
            fence(acq_rel);
            left.store(k, rlx);
            right.store(k, rlx);
            version.store(seq + 2, rel);
        } {
            look: before = version.load(acq);
            if (before % 2 == 1) goto look;
            l = left.load(rlx);
            r = right.load(rlx);
            fence(acq);
            after = version.load(rlx);
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
            take: seq = version.load(rlx);
            if (seq % 2 == 1) goto take;
            old = CAS(version, seq, seq + 1, rlx, rlx);
            if (old != seq) goto take;
            fence(acq_rel);
            left.store(k, rlx);
            right.store(k, rlx);
            version.store(seq + 2, rel);
        } {
            look: before = version.load(acq);
            if (before % 2 == 1) goto look;
            l = left.load(rlx);
            r = right.load(rlx);
            fence(acq);
            after = version.load(rlx);
            if (before != after) goto look;
            assert(l == r);
        });
    }
}
