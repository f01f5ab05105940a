// Central sense-reversing barrier (Hensgen, Finkel and Manber, IJPP 17(1), 1988; Mellor-Crummey and
// Scott 1991), endless: the last to arrive resets the counter and flips the sense. Two threads; plain
// data is written before the first barrier of a pair and read after it.

max_value 2;
global arrived, sense;
na data;
track sense: 0, 1;

fn writer {
    local n;
    while (1) {
        data.nastore(1);
        n = FADD(arrived, 1, acq, rel);
        if (n == 1) { arrived.store(0, rlx); sense.store(1, rel); } else { wait(sense, 1, acq); }
        n = FADD(arrived, 1, acq, rel);
        if (n == 1) { arrived.store(0, rlx); sense.store(0, rel); } else { wait(sense, 0, acq); }
        data.nastore(0);
    }
}

fn reader {
    local n, d;
    while (1) {
        n = FADD(arrived, 1, acq, rel);
        if (n == 1) { arrived.store(0, rlx); sense.store(1, rel); } else { wait(sense, 1, acq); }
        d = data.naload();
        assert(d == 1);
        n = FADD(arrived, 1, acq, rel);
        if (n == 1) { arrived.store(0, rlx); sense.store(0, rel); } else { wait(sense, 0, acq); }
    }
}
