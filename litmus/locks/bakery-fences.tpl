// Lamport's bakery (CACM 17(8), 1974), two threads, one round each so that the numbers stay small. A
// fence after every store of the entry.

max_value 3;
global choosing0, choosing1, number0, number1;
na shared;

fn p0 {
    local o, mine, s;
    choosing0.store(1, rel);
    fence;
    o = number1.load(acq);
    mine = o + 1;
    number0.store(mine, rel);
    fence;
    choosing0.store(0, rel);
    fence;
    wait(choosing1, 0, acq);
    again: o = number1.load(acq);
    if (o != 0 & (o < mine | o == mine & 1 < 0)) goto again;
    shared.nastore(0);
    s = shared.naload();
    assert(s == 0);
    number0.store(0, rel);
}

fn p1 {
    local o, mine, s;
    choosing1.store(1, rel);
    fence;
    o = number0.load(acq);
    mine = o + 1;
    number1.store(mine, rel);
    fence;
    choosing1.store(0, rel);
    fence;
    wait(choosing0, 0, acq);
    again: o = number0.load(acq);
    if (o != 0 & (o < mine | o == mine & 0 < 1)) goto again;
    shared.nastore(1);
    s = shared.naload();
    assert(s == 1);
    number1.store(0, rel);
}
