// Work-stealing deque of Chase and Lev (SPAA 2005), indices only, one owner and two thieves, endless;
// a bounded number of pushes keeps the indices from wrapping. Fences in take and steal as published
// for C11 by Le et al. (PPoPP 2013), and two more in steal, before top is read again and before the
// CAS, without which two thieves may disagree about top or bottom.

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
    while (1) {
        fence;
        t = top.load(acq);
        fence;
        b = bottom.load(acq);
        if (t < b) {
            fence;
            old = CAS(top, t, t + 1, acq, rel);
        }
    }
}

fn thief2 {
    local t, b, old;
    while (1) {
        fence;
        t = top.load(acq);
        fence;
        b = bottom.load(acq);
        if (t < b) {
            fence;
            old = CAS(top, t, t + 1, acq, rel);
        }
    }
}
