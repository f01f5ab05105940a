// As barrier-three.tpl with relaxed announcements and waits: the data races.

max_value 1;
global here1, here2, here3;
na d1, d2, d3;

fn party1 {
    local r;
    d1.nastore(1);
    here1.store(1, rlx);
    wait(here2, 1, rlx);
    wait(here3, 1, rlx);
    r = d2.naload();
    r = d3.naload();
}

fn party2 {
    local r;
    d2.nastore(1);
    here2.store(1, rlx);
    wait(here1, 1, rlx);
    wait(here3, 1, rlx);
    r = d1.naload();
    r = d3.naload();
}

fn party3 {
    local r;
    d3.nastore(1);
    here3.store(1, rlx);
    wait(here1, 1, rlx);
    wait(here2, 1, rlx);
    r = d1.naload();
    r = d2.naload();
}
