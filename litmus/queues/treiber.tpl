// Stack of Treiber (IBM RJ 5118, 1986) with two nodes: two threads push one each, a third pops until
// it finds the stack empty. Nodes are not reused, so there is no ABA. Push releases, pop acquires;
// everything goes through head.

max_value 3;
global head;
na next1, next2;

fn push1 {
    local h, old;
    again: h = head.load(rlx);
    next1.nastore(h);
    old = CAS(head, h, 1, rlx, rel);
    if (old != h) goto again;
}

fn push2 {
    local h, old;
    again: h = head.load(rlx);
    next2.nastore(h);
    old = CAS(head, h, 2, rlx, rel);
    if (old != h) goto again;
}

fn pop {
    local h, n, old;
    again: h = head.load(acq);
    if (h == 0) goto none;
    if (h == 1) { n = next1.naload(); }
    if (h == 2) { n = next2.naload(); }
    old = CAS(head, h, n, acq, rlx);
    if (old != h) goto again;
    goto again;
    none: skip;
}
