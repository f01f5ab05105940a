// Central sense-reversing barrier (Hensgen, Finkel and Manber, IJPP 17(1), 1988; Mellor-Crummey and
// Scott 1991), endless: the last to arrive resets the counter and flips the sense. Two threads,
// arrival acq_rel, blocking wait.

max_value 2;
global arrived, sense;
na data;
track sense: 0, 1;

fn party0 {
    local mine, n;
    while (1) {
        mine = 1 - mine;
        data.nastore(mine);
        n = FADD(arrived, 1, acq, rel);
        if (n == 1) {
            arrived.store(0, rlx);
            sense.store(mine, rel);
        } else {
            wait(sense, mine, acq);
        }
    }
}

fn party1 {
    local mine, n;
    while (1) {
        mine = 1 - mine;
        skip;
        n = FADD(arrived, 1, acq, rel);
        if (n == 1) {
            arrived.store(0, rlx);
            sense.store(mine, rel);
        } else {
            wait(sense, mine, acq);
        }
    }
}
