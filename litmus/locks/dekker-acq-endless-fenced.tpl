// Dekker's algorithm for two threads (Dijkstra, Cooperating sequential processes, 1965), in an endless
// loop. As dekker-rlx-endless-fenced.tpl with acquire loads, which makes it robust.

max_value 1;
global want0, want1, turn;
na shared;

fn p0 {
    local other, t, s;
    while (1) {
        want0.store(1, rlx);
        fence(seq_cst);
        other = want1.load(acq);
        while (other) {
            t = turn.load(acq);
            if (t != 0) {
                want0.store(0, rlx);
                fence(seq_cst);
                while (t != 0) {
                    t = turn.load(acq);
                }
                want0.store(1, rlx);
                fence(seq_cst);
            }
            other = want1.load(acq);
        }
        shared.nastore(0);
        s = shared.naload();
        assert(s == 0);
        turn.store(1, rlx);
        fence(rel);
        want0.store(0, rlx);
    }
}

fn p1 {
    local other, t, s;
    while (1) {
        want1.store(1, rlx);
        fence(seq_cst);
        other = want0.load(acq);
        while (other) {
            t = turn.load(acq);
            if (t != 1) {
                want1.store(0, rlx);
                fence(seq_cst);
                while (t != 1) {
                    t = turn.load(acq);
                }
                want1.store(1, rlx);
                fence(seq_cst);
            }
            other = want0.load(acq);
        }
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        turn.store(0, rlx);
        fence(rel);
        want1.store(0, rlx);
    }
}
