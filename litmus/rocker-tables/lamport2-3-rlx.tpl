// Lamport's fast mutual exclusion (ACM TOCS 5(1), 1987, algorithm 2), three threads, the bare
// protocol; announcements are relaxed stores followed by a seq_cst fence, loads acquire, every store
// that takes something back release.
// Search depth that Rocker needs, as a power of ten: spin_depth 8

max_value 3;
global x, y, b1, b2, b3;
track y: 0;
track b1: 0;
track b2: 0;
track b3: 0;

fn p1 {
    local rx, ry;
    while (1) {
        start: b1.store(1, rlx);
        fence;
        x.store(1, rlx);
        fence;
        ry = y.load(acq);
        if (ry != 0) {
            b1.store(0, rel);
            wait(y, 0, acq);
            goto start;
        }
        y.store(1, rlx);
        fence;
        rx = x.load(acq);
        if (rx != 1) {
            b1.store(0, rel);
            fence;
            wait(b2, 0, acq);
            fence;
            wait(b3, 0, acq);
            ry = y.load(acq);
            if (ry != 1) {
                wait(y, 0, acq);
                goto start;
            }
        }
        y.store(0, rel);
        b1.store(0, rel);
    }
}

fn p2 {
    local rx, ry;
    while (1) {
        start: b2.store(1, rlx);
        fence;
        x.store(2, rlx);
        fence;
        ry = y.load(acq);
        if (ry != 0) {
            b2.store(0, rel);
            wait(y, 0, acq);
            goto start;
        }
        y.store(2, rlx);
        fence;
        rx = x.load(acq);
        if (rx != 2) {
            b2.store(0, rel);
            fence;
            wait(b1, 0, acq);
            fence;
            wait(b3, 0, acq);
            ry = y.load(acq);
            if (ry != 2) {
                wait(y, 0, acq);
                goto start;
            }
        }
        y.store(0, rel);
        b2.store(0, rel);
    }
}

fn p3 {
    local rx, ry;
    while (1) {
        start: b3.store(1, rlx);
        fence;
        x.store(3, rlx);
        fence;
        ry = y.load(acq);
        if (ry != 0) {
            b3.store(0, rel);
            wait(y, 0, acq);
            goto start;
        }
        y.store(3, rlx);
        fence;
        rx = x.load(acq);
        if (rx != 3) {
            b3.store(0, rel);
            fence;
            wait(b1, 0, acq);
            fence;
            wait(b2, 0, acq);
            ry = y.load(acq);
            if (ry != 3) {
                wait(y, 0, acq);
                goto start;
            }
        }
        y.store(0, rel);
        b3.store(0, rel);
    }
}
