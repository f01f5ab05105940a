// Each thread makes its own object and tries to install it by CAS (racy single-check idiom as in the
// once-cells of several libraries); the losers use the winner's. Three threads.

max_value 3;
global pointer;
na object1, object2, object3;

fn p1 {
    local p, v;
    p = pointer.load(acq);
    if (p == 0) {
        object1.nastore(1);
        p = CAS(pointer, 0, 1, acq, rel);
        if (p == 0) { p = 1; }
    }
    if (p == 1) { v = object1.naload(); }
    if (p == 2) { v = object2.naload(); }
    if (p == 3) { v = object3.naload(); }
    assert(v == 1);
}

fn p2 {
    local p, v;
    p = pointer.load(acq);
    if (p == 0) {
        object2.nastore(1);
        p = CAS(pointer, 0, 2, acq, rel);
        if (p == 0) { p = 2; }
    }
    if (p == 1) { v = object1.naload(); }
    if (p == 2) { v = object2.naload(); }
    if (p == 3) { v = object3.naload(); }
    assert(v == 1);
}

fn p3 {
    local p, v;
    p = pointer.load(acq);
    if (p == 0) {
        object3.nastore(1);
        p = CAS(pointer, 0, 3, acq, rel);
        if (p == 0) { p = 3; }
    }
    if (p == 1) { v = object1.naload(); }
    if (p == 2) { v = object2.naload(); }
    if (p == 3) { v = object3.naload(); }
    assert(v == 1);
}
