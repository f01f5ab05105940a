// Ticket lock (Mellor-Crummey and Scott, ACM TOCS 9(1), 1991; the numbers wrap), four threads in an
// endless loop that wait for their numbers; what they protect is atomic.
// Search depth that Rocker needs, as a power of ten: spin_depth 8

max_value 10;
global next, serving, shared;

fn p0 {
    local mine, s;
    while (1) {
        mine = FADD(next, 1, acq, rel);
        wait(serving, mine, acq);
        shared.store(0, rel);
        s = shared.load(acq);
        assert(s == 0);
        serving.store(mine + 1, rel);
    }
}

fn p1 {
    local mine, s;
    while (1) {
        mine = FADD(next, 1, acq, rel);
        wait(serving, mine, acq);
        shared.store(1, rel);
        s = shared.load(acq);
        assert(s == 1);
        serving.store(mine + 1, rel);
    }
}

fn p2 {
    local mine, s;
    while (1) {
        mine = FADD(next, 1, acq, rel);
        wait(serving, mine, acq);
        shared.store(2, rel);
        s = shared.load(acq);
        assert(s == 2);
        serving.store(mine + 1, rel);
    }
}

fn p3 {
    local mine, s;
    while (1) {
        mine = FADD(next, 1, acq, rel);
        wait(serving, mine, acq);
        shared.store(3, rel);
        s = shared.load(acq);
        assert(s == 3);
        serving.store(mine + 1, rel);
    }
}
