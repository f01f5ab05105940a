// Non-blocking write protocol (Kopetz and Reisinger, RTSS 1993): the writer makes the control field
// odd, writes, makes it even; readers retry. One reader writes a location of its own before it reads,
// the other afterwards. One writer and nobody else writing the control field, so release/acquire is
// enough.
// Search depth that Rocker needs, as a power of ten: spin_depth 7

max_value 3;
global ccf, data, mine1, mine2;

fn writer {
    local c;
    while (1) {
        c = ccf.load(acq);
        ccf.store(c + 1, rel);
        data.store(c, rel);
        ccf.store(c + 2, rel);
    }
}

fn local_then_read {
    local first, last, d;
    while (1) {
        mine1.store(1, rel);
        again: first = ccf.load(acq);
        d = data.load(acq);
        last = ccf.load(acq);
        if (first != last) goto again;
        if (first % 2 == 1) goto again;
    }
}

fn read_then_local {
    local first, last, d;
    while (1) {
        again: first = ccf.load(acq);
        d = data.load(acq);
        last = ccf.load(acq);
        if (first != last) goto again;
        if (first % 2 == 1) goto again;
        mine2.store(1, rel);
    }
}
