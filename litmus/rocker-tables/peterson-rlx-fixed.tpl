// Peterson's algorithm (Myths about the mutual exclusion problem, IPL 1981), two threads in an endless
// loop. As peterson-rlx with the poll of turn made acquire.

max_value 1;
global want0, want1, turn;
na shared;

fn p0 {
    local other, t, s;
    while (1) {
        want0.store(1, rlx);
        t = exchange(turn, 1, acq, rel);
        other = want1.load(acq);
        t = turn.load(acq);
        while (other == 1 & t == 1) {
            other = want1.load(acq);
            t = turn.load(acq);
        }
        shared.nastore(0);
        s = shared.naload();
        assert(s == 0);
        want0.store(0, rel);
    }
}

fn p1 {
    local other, t, s;
    while (1) {
        want1.store(1, rlx);
        t = exchange(turn, 0, acq, rel);
        other = want0.load(acq);
        t = turn.load(acq);
        while (other == 1 & t == 0) {
            other = want0.load(acq);
            t = turn.load(acq);
        }
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        want1.store(0, rel);
    }
}
