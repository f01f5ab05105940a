// Non-blocking write protocol (Kopetz and Reisinger, RTSS 1993) with relaxed data and fences: readers
// retry, stale data is thrown away.

max_value 5;
global ccf, a, b;
track ccf: all;

fn writer {
    local k, c;
    while (k < 2) {
        k = k + 1;
        c = ccf.load(rlx);
        ccf.store(c + 1, rlx);
        fence(rel);
        b.store(k, rlx);
        a.store(k, rlx);
        ccf.store(c + 2, rel);
    }
}

fn reader1 {
    local first, last, x, y;
    while (1) {
        again: first = ccf.load(acq);
        x = a.load(rlx);
        y = b.load(rlx);
        fence(acq);
        last = ccf.load(rlx);
        if (first != last) goto again;
        if (first % 2 == 1) goto again;
        assert(x == y);
    }
}

fn reader2 {
    local first, last, x, y;
    while (1) {
        again: first = ccf.load(acq);
        x = a.load(rlx);
        y = b.load(rlx);
        fence(acq);
        last = ccf.load(rlx);
        if (first != last) goto again;
        if (first % 2 == 1) goto again;
        assert(x == y);
    }
}
