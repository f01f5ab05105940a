// Central sense-reversing barrier (Hensgen, Finkel and Manber, IJPP 17(1), 1988; Mellor-Crummey and
// Scott 1991), endless: the last to arrive resets the counter and flips the sense. Two threads; the
// arrival is relaxed, so the last one publishes only what it did itself and the data races.

max_value 2;
global arrived, sense;
na data;
track sense: 0, 1;

fn writer {
    local n;
    data.nastore(1);
    n = FADD(arrived, 1, rlx, rlx);
    if (n == 1) { arrived.store(0, rlx); sense.store(1, rel); } else { wait(sense, 1, acq); }
}

fn reader {
    local n, d;
    n = FADD(arrived, 1, rlx, rlx);
    if (n == 1) { arrived.store(0, rlx); sense.store(1, rel); } else { wait(sense, 1, acq); }
    d = data.naload();
}
