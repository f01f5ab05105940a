// Dekker's algorithm for two threads (Dijkstra, Cooperating sequential processes, 1965), in an endless
// loop. A fence after each announcement and after the retreat, between the store of want and the loads
// that follow, as x86 needs; it is enough for RA too.

max_value 1;
global want0, want1, turn;
na shared;

fn p0 {
    local other, t, s;
    while (1) {
        want0.store(1, rel);
        fence;
        other = want1.load(acq);
        while (other) {
            t = turn.load(acq);
            if (t != 0) {
                want0.store(0, rel);
                fence;
                while (t != 0) {
                    t = turn.load(acq);
                }
                want0.store(1, rel);
                fence;
            }
            other = want1.load(acq);
        }
        shared.nastore(0);
        s = shared.naload();
        assert(s == 0);
        turn.store(1, rel);
        want0.store(0, rel);
    }
}

fn p1 {
    local other, t, s;
    while (1) {
        want1.store(1, rel);
        fence;
        other = want0.load(acq);
        while (other) {
            t = turn.load(acq);
            if (t != 1) {
                want1.store(0, rel);
                fence;
                while (t != 1) {
                    t = turn.load(acq);
                }
                want1.store(1, rel);
                fence;
            }
            other = want0.load(acq);
        }
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        turn.store(0, rel);
        want1.store(0, rel);
    }
}
