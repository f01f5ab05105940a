// A wait that accepts the old and the new value is a load: store buffering.

max_value 1;
global x, y;

fn p0 {
    local r;
    x.store(1, rel);
    r = wait(y, 0, 1, acq);
}

fn p1 {
    local r;
    y.store(1, rel);
    r = wait(x, 0, 1, acq);
}
