// call_once with the states 0 new, 1 running, 2 done: the CAS winner runs the initialiser, the others
// block until it is done. Three threads.

max_value 2;
global state;
na object;
track state: all;

fn p1 {
    local s, v;
    s = state.load(acq);
    if (s != 2) {
        s = CAS(state, 0, 1, rlx, rlx);
        if (s == 0) {
            object.nastore(1);
            state.store(2, rel);
        } else {
            wait(state, 2, acq);
        }
    }
    v = object.naload();
    assert(v == 1);
}

fn p2 {
    local s, v;
    s = state.load(acq);
    if (s != 2) {
        s = CAS(state, 0, 1, rlx, rlx);
        if (s == 0) {
            object.nastore(1);
            state.store(2, rel);
        } else {
            wait(state, 2, acq);
        }
    }
    v = object.naload();
    assert(v == 1);
}

fn p3 {
    local s, v;
    s = state.load(acq);
    if (s != 2) {
        s = CAS(state, 0, 1, rlx, rlx);
        if (s == 0) {
            object.nastore(1);
            state.store(2, rel);
        } else {
            wait(state, 2, acq);
        }
    }
    v = object.naload();
    assert(v == 1);
}
