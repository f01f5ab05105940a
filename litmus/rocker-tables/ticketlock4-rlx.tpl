// Ticket lock (Mellor-Crummey and Scott, ACM TOCS 9(1), 1991; the numbers wrap), four threads; tickets
// are drawn by a relaxed fetch-add, so a thread may know through its ticket that serving has advanced
// and still poll an older number.
// Search depth that Rocker needs, as a power of ten: spin_depth 7

max_value 7;
global next, serving;
na shared;

fn p0 {
    local mine, now, s;
    while (1) {
        mine = FADD(next, 1, rlx, rlx);
        now = serving.load(acq);
        while (now != mine) {
            now = serving.load(acq);
        }
        shared.nastore(0);
        s = shared.naload();
        assert(s == 0);
        serving.store(mine + 1, rel);
    }
}

fn p1 {
    local mine, now, s;
    while (1) {
        mine = FADD(next, 1, rlx, rlx);
        now = serving.load(acq);
        while (now != mine) {
            now = serving.load(acq);
        }
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        serving.store(mine + 1, rel);
    }
}

fn p2 {
    local mine, now, s;
    while (1) {
        mine = FADD(next, 1, rlx, rlx);
        now = serving.load(acq);
        while (now != mine) {
            now = serving.load(acq);
        }
        shared.nastore(2);
        s = shared.naload();
        assert(s == 2);
        serving.store(mine + 1, rel);
    }
}

fn p3 {
    local mine, now, s;
    while (1) {
        mine = FADD(next, 1, rlx, rlx);
        now = serving.load(acq);
        while (now != mine) {
            now = serving.load(acq);
        }
        shared.nastore(3);
        s = shared.naload();
        assert(s == 3);
        serving.store(mine + 1, rel);
    }
}
