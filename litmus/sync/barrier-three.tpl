// Three-thread barrier: announce, then block until both others have announced; the data written before
// it is read after it.

max_value 1;
global here1, here2, here3;
na d1, d2, d3;

fn party1 {
    local r;
    d1.nastore(1);
    here1.store(1, rel);
    wait(here2, 1, acq);
    wait(here3, 1, acq);
    r = d2.naload();
    assert(r == 1);
    r = d3.naload();
    assert(r == 1);
}

fn party2 {
    local r;
    d2.nastore(1);
    here2.store(1, rel);
    wait(here1, 1, acq);
    wait(here3, 1, acq);
    r = d1.naload();
    assert(r == 1);
    r = d3.naload();
    assert(r == 1);
}

fn party3 {
    local r;
    d3.nastore(1);
    here3.store(1, rel);
    wait(here1, 1, acq);
    wait(here2, 1, acq);
    r = d1.naload();
    assert(r == 1);
    r = d2.naload();
    assert(r == 1);
}
