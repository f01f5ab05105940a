// Peterson's algorithm (Myths about the mutual exclusion problem, IPL 1981), two threads in an endless
// loop. One fence before the loads, enough for x86; RA may still order the two stores of turn against
// it.

max_value 1;
global want0, want1, turn;
na shared;

fn p0 {
    local other, t, s;
    while (1) {
        want0.store(1, rel);
        turn.store(1, rel);
        fence;
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
        want1.store(1, rel);
        turn.store(0, rel);
        fence;
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
