// Peterson's algorithm (Myths about the mutual exclusion problem, IPL 1981), two threads in an endless
// loop. The repair proposed by B. Milewski's reader Bratosz exchanges the flags instead of turn: it
// orders nothing between the threads.

max_value 1;
global want0, want1, turn;
na shared;

fn p0 {
    local other, t, s;
    while (1) {
        t = exchange(want0, 1, acq, rel);
        turn.store(1, rel);
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
        t = exchange(want1, 1, acq, rel);
        turn.store(0, rel);
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
