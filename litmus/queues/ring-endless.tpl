// Ring buffer of one producer and one consumer (Lamport, Proving the correctness of multiprocess
// programs, 1977): each end reads its own index relaxed, the other's with acquire, and publishes with
// release. The slots are plain memory. Both endless: a thread that stores its index and then looks at
// the other's is store buffering; the stale index only makes the ring look full or empty for longer,
// but it decides a branch.

max_value 3;
global in, out;
na slot0, slot1, slot2, slot3;

fn producer {
    local w, r, n;
    while (1) {
        w = in.load(rlx);
        r = out.load(acq);
        n = w + 1;
        if (n != r) {
            if (w == 0) { slot0.nastore(1); }
            if (w == 1) { slot1.nastore(1); }
            if (w == 2) { slot2.nastore(1); }
            if (w == 3) { slot3.nastore(1); }
            in.store(n, rel);
        }
    }
}

fn consumer {
    local w, r, v;
    while (1) {
        r = out.load(rlx);
        w = in.load(acq);
        if (r != w) {
            if (r == 0) { v = slot0.naload(); slot0.nastore(0); }
            if (r == 1) { v = slot1.naload(); slot1.nastore(0); }
            if (r == 2) { v = slot2.naload(); slot2.nastore(0); }
            if (r == 3) { v = slot3.naload(); slot3.nastore(0); }
            assert(v == 1);
            out.store(r + 1, rel);
        }
    }
}
