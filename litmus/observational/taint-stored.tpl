// A stale value that is written to memory is observed.

max_value 1;
global data, ready, copy;

fn writer {
    data.store(1, rlx);
    ready.store(1, rlx);
}

fn reader {
    local r, d;
    r = ready.load(rlx);
    d = data.load(rlx);
    copy.store(d, rlx);
}
