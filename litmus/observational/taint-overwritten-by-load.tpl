// The stale register is loaded again after synchronisation, before it is used.

max_value 1;
global data, ready;

fn writer {
    data.store(1, rlx);
    ready.store(1, rel);
}

fn reader {
    local r, d;
    r = ready.load(rlx);
    d = data.load(rlx);
    wait(ready, 1, acq);
    d = data.load(rlx);
    verify(d);
}
