// CLH queue lock (Craig, 1993; Landin and Hagersten, IPPS 1994): a thread spins on the node of its
// predecessor and takes it over afterwards. Two endless threads, three nodes. The exchange of the tail
// is relaxed: the mark of the own node may be missed by the successor.

max_value 3;
global tail, locked0, locked1, locked2;
na shared;

fn p1 {
    local node, pred, s;
    node = 1;
    while (1) {
        if (node == 0) { locked0.store(1, rlx); }
        if (node == 1) { locked1.store(1, rlx); }
        if (node == 2) { locked2.store(1, rlx); }
        pred = exchange(tail, node, rlx, rlx);
        if (pred == 0) { wait(locked0, 0, acq); }
        if (pred == 1) { wait(locked1, 0, acq); }
        if (pred == 2) { wait(locked2, 0, acq); }
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        if (node == 0) { locked0.store(0, rel); }
        if (node == 1) { locked1.store(0, rel); }
        if (node == 2) { locked2.store(0, rel); }
        node = pred;
    }
}

fn p2 {
    local node, pred, s;
    node = 2;
    while (1) {
        if (node == 0) { locked0.store(1, rlx); }
        if (node == 1) { locked1.store(1, rlx); }
        if (node == 2) { locked2.store(1, rlx); }
        pred = exchange(tail, node, rlx, rlx);
        if (pred == 0) { wait(locked0, 0, acq); }
        if (pred == 1) { wait(locked1, 0, acq); }
        if (pred == 2) { wait(locked2, 0, acq); }
        shared.nastore(2);
        s = shared.naload();
        assert(s == 2);
        if (node == 0) { locked0.store(0, rel); }
        if (node == 1) { locked1.store(0, rel); }
        if (node == 2) { locked2.store(0, rel); }
        node = pred;
    }
}
