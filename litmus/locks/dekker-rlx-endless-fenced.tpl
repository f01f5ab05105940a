// Dekker's algorithm for two threads (Dijkstra, Cooperating sequential processes, 1965), in an endless
// loop. All accesses relaxed, a seq_cst fence after every store of want in the entry protocol, acquire
// and release fences around the critical section. The poll of the other's want may see its next round
// without synchronising, and then read an old turn.

max_value 1;
global want0, want1, turn;
na shared;

fn p0 {
    local other, t, s;
    while (1) {
        want0.store(1, rlx);
        fence(seq_cst);
        other = want1.load(rlx);
        while (other) {
            t = turn.load(rlx);
            if (t != 0) {
                want0.store(0, rlx);
                fence(seq_cst);
                while (t != 0) {
                    t = turn.load(rlx);
                }
                want0.store(1, rlx);
                fence(seq_cst);
            }
            other = want1.load(rlx);
        }
        fence(acq);
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
        other = want0.load(rlx);
        while (other) {
            t = turn.load(rlx);
            if (t != 1) {
                want1.store(0, rlx);
                fence(seq_cst);
                while (t != 1) {
                    t = turn.load(rlx);
                }
                want1.store(1, rlx);
                fence(seq_cst);
            }
            other = want0.load(rlx);
        }
        fence(acq);
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        turn.store(0, rlx);
        fence(rel);
        want1.store(0, rlx);
    }
}
