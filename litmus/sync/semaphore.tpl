// Counting semaphore (Dijkstra, 1965) with one permit: acquire by CAS from a positive value, release
// by fetch-add. Three endless threads, plain data inside.

max_value 3;
global permits = 1;
na shared;

fn p1 {
    local n, old, s;
    while (1) {
        again: n = permits.load(rlx);
        if (n == 0) goto again;
        old = CAS(permits, n, n - 1, acq, rlx);
        if (old != n) goto again;
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        old = FADD(permits, 1, rlx, rel);
    }
}

fn p2 {
    local n, old, s;
    while (1) {
        again: n = permits.load(rlx);
        if (n == 0) goto again;
        old = CAS(permits, n, n - 1, acq, rlx);
        if (old != n) goto again;
        shared.nastore(2);
        s = shared.naload();
        assert(s == 2);
        old = FADD(permits, 1, rlx, rel);
    }
}

fn p3 {
    local n, old, s;
    while (1) {
        again: n = permits.load(rlx);
        if (n == 0) goto again;
        old = CAS(permits, n, n - 1, acq, rlx);
        if (old != n) goto again;
        shared.nastore(3);
        s = shared.naload();
        assert(s == 3);
        old = FADD(permits, 1, rlx, rel);
    }
}
