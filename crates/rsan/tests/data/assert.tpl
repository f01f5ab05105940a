max_value 2;
global x;

fn inc {
    local r;
    r = x.load(acq);
    x.store(r + 1, rel);
}

fn twice {
    local r;
    r = x.load(acq);
    x.store(r + 1, rel);
    r = x.load(acq);
    assert(r != 1);
}
