// Work-stealing deque of Chase and Lev (SPAA 2005), indices only, one owner and two thieves, the owner
// endless, each thief one attempt; a bounded number of pushes keeps the indices from wrapping. The
// fence in steal is missing.

max_value 4;
global top = 1, bottom = 1;
track top: all;

fn owner {
    local t, b, old;
    while (1) {
        oneof({
            b = bottom.load(acq);
            if (b < 4) {
                bottom.store(b + 1, rel);
            }
        } {
            b = bottom.load(acq);
            b = b - 1;
            bottom.store(b, rel);
            fence;
            t = top.load(acq);
            if (t > b) {
                bottom.store(b + 1, rel);
            } else {
                if (t == b) {
                    old = CAS(top, t, t + 1, acq, rel);
                    bottom.store(b + 1, rel);
                }
            }
        });
    }
}

fn thief1 {
    local t, b, old;
    t = top.load(acq);
    b = bottom.load(acq);
    if (t < b) {
        old = CAS(top, t, t + 1, acq, rel);
    }
}

fn thief2 {
    local t, b, old;
    t = top.load(acq);
    b = bottom.load(acq);
    if (t < b) {
        old = CAS(top, t, t + 1, acq, rel);
    }
}
