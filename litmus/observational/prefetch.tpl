// The data is read before the flag is checked and used only if the flag had been set before: an older
// read of the flag decides, a stale value is never used.

max_value 1;
global data, ready;

fn writer {
    data.store(1, rlx);
    ready.store(1, rel);
}

fn reader {
    local early, now, d;
    early = ready.load(rlx);
    d = data.load(rlx);
    now = ready.load(acq);
    if (now == 1) {
        d = data.load(rlx);
        verify(d);
    }
}
