// Dijkstra's algorithm (Solution of a problem in concurrent programming control, CACM 8(9), 1965), two
// threads, endless. Release/acquire only.

max_value 2;
global flag0, flag1, turn;
na shared;

fn p0 {
    local t, o, s;
    while (1) {
        start: flag0.store(1, rel);
        look: t = turn.load(acq);
        if (t != 0) {
            o = flag1.load(acq);
            if (o != 0) goto look;
            turn.store(0, rel);
            goto look;
        }
        flag0.store(2, rel);
        o = flag1.load(acq);
        if (o == 2) goto start;
        shared.nastore(0);
        s = shared.naload();
        assert(s == 0);
        flag0.store(0, rel);
    }
}

fn p1 {
    local t, o, s;
    while (1) {
        start: flag1.store(1, rel);
        look: t = turn.load(acq);
        if (t != 1) {
            o = flag0.load(acq);
            if (o != 0) goto look;
            turn.store(1, rel);
            goto look;
        }
        flag1.store(2, rel);
        o = flag0.load(acq);
        if (o == 2) goto start;
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        flag1.store(0, rel);
    }
}
