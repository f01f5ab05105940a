// Lamport's fast mutual exclusion (ACM TOCS 5(1), 1987, algorithm 2), two threads; loads and stores of
// the entry relaxed with a seq_cst fence after every store, waits acquire, an acquire fence on entry,
// every store that takes something back release.

max_value 2;
global x, y, b1, b2;
na shared;
track y: 0;
track b1: 0;
track b2: 0;

fn p1 {
    local rx, ry, s;
    while (1) {
        start: b1.store(1, rlx);
        fence;
        x.store(1, rlx);
        fence;
        ry = y.load(rlx);
        if (ry != 0) {
            b1.store(0, rel);
            wait(y, 0, acq);
            goto start;
        }
        y.store(1, rlx);
        fence;
        rx = x.load(rlx);
        if (rx != 1) {
            b1.store(0, rel);
            fence;
            wait(b2, 0, acq);
            ry = y.load(rlx);
            if (ry != 1) {
                wait(y, 0, acq);
                goto start;
            }
        }
        fence(acq);
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        y.store(0, rel);
        b1.store(0, rel);
    }
}

fn p2 {
    local rx, ry, s;
    while (1) {
        start: b2.store(1, rlx);
        fence;
        x.store(2, rlx);
        fence;
        ry = y.load(rlx);
        if (ry != 0) {
            b2.store(0, rel);
            wait(y, 0, acq);
            goto start;
        }
        y.store(2, rlx);
        fence;
        rx = x.load(rlx);
        if (rx != 2) {
            b2.store(0, rel);
            fence;
            wait(b1, 0, acq);
            ry = y.load(rlx);
            if (ry != 2) {
                wait(y, 0, acq);
                goto start;
            }
        }
        fence(acq);
        shared.nastore(2);
        s = shared.naload();
        assert(s == 2);
        y.store(0, rel);
        b2.store(0, rel);
    }
}
