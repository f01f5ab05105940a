// Store buffering whose loads are overwritten before anybody looks: not robust, but nothing depends on
// it.

max_value 2;
global x, y;

fn p0 {
    local r;
    x.store(1, rel);
    r = y.load(acq);
    r = 2;
    verify(r);
}

fn p1 {
    local r;
    y.store(1, rel);
    r = x.load(acq);
    r = 2;
    verify(r);
}
