// A reader that reports its quiescent state with a relaxed store: the writer may destroy what is still
// being read.

max_value 1;
global phase, seen;
na old = 1;

fn writer {
    phase.store(1, rel);
    wait(seen, 1, acq);
    old.nastore(0);
}

fn reader {
    local p, v;
    v = old.naload();
    p = phase.load(acq);
    seen.store(p, rlx);
}
