// Peterson's filter lock for three threads (IPL 1981; Herlihy and Shavit, chapter 2), one round each.
// Release/acquire only.

max_value 3;
global level1, level2, level3, victim1, victim2;
na shared;

fn p1 {
    local a, b, v, t, s;
    level1.store(1, rel);
    victim1.store(1, rel);
    again1: a = level2.load(acq);
    b = level3.load(acq);
    v = victim1.load(acq);
    if ((a >= 1 | b >= 1) & v == 1) goto again1;
    level1.store(2, rel);
    victim2.store(1, rel);
    again2: a = level2.load(acq);
    b = level3.load(acq);
    v = victim2.load(acq);
    if ((a >= 2 | b >= 2) & v == 1) goto again2;
    shared.nastore(1);
    s = shared.naload();
    assert(s == 1);
    level1.store(0, rel);
}

fn p2 {
    local a, b, v, t, s;
    level2.store(1, rel);
    victim1.store(2, rel);
    again1: a = level1.load(acq);
    b = level3.load(acq);
    v = victim1.load(acq);
    if ((a >= 1 | b >= 1) & v == 2) goto again1;
    level2.store(2, rel);
    victim2.store(2, rel);
    again2: a = level1.load(acq);
    b = level3.load(acq);
    v = victim2.load(acq);
    if ((a >= 2 | b >= 2) & v == 2) goto again2;
    shared.nastore(2);
    s = shared.naload();
    assert(s == 2);
    level2.store(0, rel);
}

fn p3 {
    local a, b, v, t, s;
    level3.store(1, rel);
    victim1.store(3, rel);
    again1: a = level1.load(acq);
    b = level2.load(acq);
    v = victim1.load(acq);
    if ((a >= 1 | b >= 1) & v == 3) goto again1;
    level3.store(2, rel);
    victim2.store(3, rel);
    again2: a = level1.load(acq);
    b = level2.load(acq);
    v = victim2.load(acq);
    if ((a >= 2 | b >= 2) & v == 3) goto again2;
    shared.nastore(3);
    s = shared.naload();
    assert(s == 3);
    level3.store(0, rel);
}
