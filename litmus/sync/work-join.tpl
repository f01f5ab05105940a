// Two workers fill plain cells and count down; a collector blocks until the count is 0. The countdown
// releases, the wait acquires through the release sequence.

max_value 2;
global left = 2;
na a, b;

fn worker1 {
    local n;
    a.nastore(1);
    n = FADD(left, -1, rlx, rel);
}

fn worker2 {
    local n;
    b.nastore(1);
    n = FADD(left, -1, rlx, rel);
}

fn collector {
    local r;
    wait(left, 0, acq);
    r = a.naload();
    assert(r == 1);
    r = b.naload();
    assert(r == 1);
}
