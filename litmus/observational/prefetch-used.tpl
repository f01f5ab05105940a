// As prefetch.tpl, but the value read early is used when the flag is set later.

max_value 1;
global data, ready;

fn writer {
    data.store(1, rlx);
    ready.store(1, rel);
}

fn reader {
    local early, d;
    early = ready.load(rlx);
    d = data.load(rlx);
    if (early == 1) {
        verify(d);
    }
}
