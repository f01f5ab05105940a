// As work-join.tpl with a relaxed countdown: a data race.

max_value 2;
global left = 2;
na a, b;

fn worker1 {
    local n;
    a.nastore(1);
    n = FADD(left, -1, rlx, rlx);
}

fn worker2 {
    local n;
    b.nastore(1);
    n = FADD(left, -1, rlx, rlx);
}

fn collector {
    local r;
    wait(left, 0, acq);
    r = a.naload();
    r = b.naload();
}
