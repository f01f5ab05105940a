// A reader that reads a version, relaxed data, and the version again, and uses the data only when the
// version has not changed (the core of a seqlock, one writer, one update).

max_value 3;
global version, data;

fn writer {
    version.store(1, rlx);
    fence(rel);
    data.store(1, rlx);
    version.store(2, rel);
}

fn reader {
    local v, d, w;
    again: v = version.load(acq);
    if (v == 1) goto again;
    d = data.load(rlx);
    fence(acq);
    w = version.load(rlx);
    if (v != w) goto again;
    if (v == 2) { assert(d == 1); }
    if (v == 0) { assert(d == 0); }
}
