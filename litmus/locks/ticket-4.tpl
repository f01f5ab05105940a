// Ticket lock (Mellor-Crummey and Scott, ACM TOCS 9(1), 1991; the numbers wrap), four threads in an
// endless loop.

max_value 7;
global next, serving;
na shared;

fn p0 {
    local mine, now, s;
    while (1) {
        mine = FADD(next, 1, acq, rel);
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
        mine = FADD(next, 1, acq, rel);
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
        mine = FADD(next, 1, acq, rel);
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
        mine = FADD(next, 1, acq, rel);
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
