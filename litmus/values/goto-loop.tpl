// Endless try-lock with goto and a strong CAS, the critical section guarded by an assertion on an
// atomic owner.

max_value 2;
global l, owner;

fn p1 {
    local r;
    try: r = CAS(l, 0, 1, acq, rlx);
    if (r != 0) goto try;
    owner.store(1, rlx);
    r = owner.load(rlx);
    assert(r == 1);
    l.store(0, rel);
    goto try;
}

fn p2 {
    local r;
    try: r = CAS(l, 0, 2, acq, rlx);
    if (r != 0) goto try;
    owner.store(2, rlx);
    r = owner.load(rlx);
    assert(r == 2);
    l.store(0, rel);
    goto try;
}
