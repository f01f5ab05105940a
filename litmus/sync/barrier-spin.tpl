// Two-thread barrier that polls instead of blocking: the poll may read the stale 0, which SC forbids
// once the other has gone on, so it is not robust (PLDI 2019, section 2), although the barrier works.

max_value 1;
global here0, here1;

fn party0 {
    local o;
    here0.store(1, rel);
    again: o = here1.load(acq);
    if (o == 0) goto again;
}

fn party1 {
    local o;
    here1.store(1, rel);
    again: o = here0.load(acq);
    if (o == 0) goto again;
}
