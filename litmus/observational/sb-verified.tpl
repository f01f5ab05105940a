// Store buffering whose loads are observed.

max_value 1;
global x, y;

fn p0 {
    local r;
    x.store(1, rel);
    r = y.load(acq);
    verify(r);
}

fn p1 {
    local r;
    y.store(1, rel);
    r = x.load(acq);
    verify(r);
}
