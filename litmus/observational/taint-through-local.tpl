// Copying a stale value is already a use.

max_value 1;
global data, ready;

fn writer {
    data.store(1, rlx);
    ready.store(1, rlx);
}

fn reader {
    local r, d, e;
    r = ready.load(rlx);
    d = data.load(rlx);
    e = d + r;
}
