// MCS queue lock (Mellor-Crummey and Scott, ACM TOCS 9(1), 1991), one node per thread, two endless
// threads; link and wake-up are relaxed, so the hand-over publishes nothing.

max_value 2;
global tail, next1, wait1, next2, wait2;
na shared;

fn p1 {
    local pred, succ, old, s;
    while (1) {
        next1.store(0, rlx);
        wait1.store(1, rlx);
        pred = exchange(tail, 1, acq, rel);
        if (pred != 0) {
            if (pred == 2) { next2.store(1, rlx); }
            wait(wait1, 0, acq);
        }
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        succ = next1.load(acq);
        if (succ == 0) {
            old = CAS(tail, 1, 0, acq, rel);
            if (old == 1) goto out;
            again: succ = next1.load(acq);
            if (succ == 0) goto again;
        }
        if (succ == 2) { wait2.store(0, rlx); }
        out: skip;
    }
}

fn p2 {
    local pred, succ, old, s;
    while (1) {
        next2.store(0, rlx);
        wait2.store(1, rlx);
        pred = exchange(tail, 2, acq, rel);
        if (pred != 0) {
            if (pred == 1) { next1.store(2, rlx); }
            wait(wait2, 0, acq);
        }
        shared.nastore(2);
        s = shared.naload();
        assert(s == 2);
        succ = next2.load(acq);
        if (succ == 0) {
            old = CAS(tail, 2, 0, acq, rel);
            if (old == 2) goto out;
            again: succ = next2.load(acq);
            if (succ == 0) goto again;
        }
        if (succ == 1) { wait1.store(0, rlx); }
        out: skip;
    }
}
