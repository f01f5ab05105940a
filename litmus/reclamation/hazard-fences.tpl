// Hazard pointers (Michael, IEEE TPDS 15(6), 2004): the reader announces the object it is about to use
// and checks that it is still current; the reclaimer unlinks it and then scans the announcements. A
// seq_cst fence between announcing and checking, and between unlinking and scanning.

max_value 2;
global pointer = 1, hazard;
na object1 = 1, object2 = 1;

fn reader {
    local p, q, v;
    again: p = pointer.load(rlx);
    hazard.store(p, rlx);
    fence;
    q = pointer.load(acq);
    if (p != q) goto again;
    if (p == 1) { v = object1.naload(); }
    if (p == 2) { v = object2.naload(); }
    assert(v == 1);
    hazard.store(0, rel);
}

fn reclaimer {
    local h;
    pointer.store(2, rel);
    fence;
    h = hazard.load(acq);
    if (h != 1) {
        object1.nastore(0);
    }
}
