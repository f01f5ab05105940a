// Queue of Michael and Scott (PODC 1996) with three nodes, node 1 the dummy: two threads enqueue one
// value each, a third dequeues until it finds the queue empty. Nodes are not reused, so there is no
// ABA. All links are written with release and read with acquire, and every shared word is written by
// CAS only, so a stale one can at worst be read, and acquire loads prevent that.

max_value 3;
global head = 1, tail = 1, next1, next2, next3;
na value2, value3;

fn enqueue2 {
    local t, n, old;
    value2.nastore(2);
    while (1) {
        t = tail.load(acq);
        n = 0;
        if (t == 1) { n = next1.load(acq); }
        if (t == 3) { n = next3.load(acq); }
        if (n == 0) {
            old = 3;
            if (t == 1) { old = CAS(next1, 0, 2, rlx, rel); }
            if (t == 3) { old = CAS(next3, 0, 2, rlx, rel); }
            if (old == 0) {
                old = CAS(tail, t, 2, rlx, rel);
                goto done;
            }
        } else {
            old = CAS(tail, t, n, rlx, rel);
        }
    }
    done: skip;
}

fn enqueue3 {
    local t, n, old;
    value3.nastore(3);
    while (1) {
        t = tail.load(acq);
        n = 0;
        if (t == 1) { n = next1.load(acq); }
        if (t == 2) { n = next2.load(acq); }
        if (n == 0) {
            old = 3;
            if (t == 1) { old = CAS(next1, 0, 3, rlx, rel); }
            if (t == 2) { old = CAS(next2, 0, 3, rlx, rel); }
            if (old == 0) {
                old = CAS(tail, t, 3, rlx, rel);
                goto done;
            }
        } else {
            old = CAS(tail, t, n, rlx, rel);
        }
    }
    done: skip;
}

fn dequeue {
    local h, t, n, old, v;
    again: h = head.load(acq);
    t = tail.load(acq);
    n = 0;
    if (h == 1) { n = next1.load(acq); }
    if (h == 2) { n = next2.load(acq); }
    if (h == 3) { n = next3.load(acq); }
    if (n == 0) goto none;
    if (h == t) {
        old = CAS(tail, t, n, rlx, rel);
        goto again;
    }
    old = CAS(head, h, n, acq, rel);
    if (old != h) goto again;
    if (n == 2) { v = value2.naload(); }
    if (n == 3) { v = value3.naload(); }
    assert(v == n);
    goto again;
    none: skip;
}
