// Bounded queue after D. Vyukov (1024cores.net): a position is drawn by CAS, the slot's own sequence
// number says who may use it. Two producers, one consumer, two slots; the position is drawn relaxed,
// the sequence numbers carry the data.

max_value 4;
global enq, deq, seq0, seq1 = 1;
na slot0, slot1;

fn producer1 {
    local pos, s, old;
    again: pos = enq.load(rlx);
    s = 9;
    if (pos == 0) { s = seq0.load(acq); }
    if (pos == 1) { s = seq1.load(acq); }
    if (s != pos) goto again;
    old = CAS(enq, pos, pos + 1, rlx, rlx);
    if (old != pos) goto again;
    if (pos == 0) { slot0.nastore(1); seq0.store(1, rel); }
    if (pos == 1) { slot1.nastore(1); seq1.store(2, rel); }
}

fn producer2 {
    local pos, s, old;
    again: pos = enq.load(rlx);
    s = 9;
    if (pos == 0) { s = seq0.load(acq); }
    if (pos == 1) { s = seq1.load(acq); }
    if (s != pos) goto again;
    old = CAS(enq, pos, pos + 1, rlx, rlx);
    if (old != pos) goto again;
    if (pos == 0) { slot0.nastore(2); seq0.store(1, rel); }
    if (pos == 1) { slot1.nastore(2); seq1.store(2, rel); }
}

fn consumer {
    local v;
    wait(seq0, 1, acq);
    v = slot0.naload();
    assert(v != 0);
    wait(seq1, 2, acq);
    v = slot1.naload();
    assert(v != 0);
}
