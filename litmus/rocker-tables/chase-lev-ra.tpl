// Work-stealing deque of Chase and Lev (SPAA 2005), indices only, one owner and two thieves, endless;
// it has room for 20, and 200 pushes keep the indices from wrapping. Fences in take and steal as published
// for C11 by Le et al. (PPoPP 2013), and two more: before top is read again in steal, without which two
// thieves may disagree about top or bottom, and before push looks whether there is room. A thief that loses
// its element to another one waits.
// Search depth that Rocker needs, as a power of ten: spin_depth 7

max_value 200;
global top = 1, bottom = 1;
track top: all;

fn owner {
    local t, b, old;
    while (1) {
        oneof({
            b = bottom.load(acq);
            fence;
            t = top.load(acq);
            if (b < 200 && b < t + 20) {
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
            BCAS(top, t, t + 1, acq, rel);
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
            BCAS(top, t, t + 1, acq, rel);
        }
    }
}
