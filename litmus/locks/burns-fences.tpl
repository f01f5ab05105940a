// Burns' one-bit algorithm (Burns and Lynch, Mutual exclusion using indivisible reads and writes,
// 1980), two threads, endless; the first has precedence. A fence after every store of the entry.

max_value 1;
global want0, want1;
na shared;

fn p0 {
    local s;
    while (1) {
        want0.store(1, rel);
        fence;
        wait(want1, 0, acq);
        shared.nastore(0);
        s = shared.naload();
        assert(s == 0);
        want0.store(0, rel);
    }
}

fn p1 {
    local o, s;
    while (1) {
        retry: want1.store(0, rel);
        fence;
        wait(want0, 0, acq);
        want1.store(1, rel);
        fence;
        o = want0.load(acq);
        if (o == 1) goto retry;
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        want1.store(0, rel);
    }
}
