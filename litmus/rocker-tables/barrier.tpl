// Two-thread barrier: announce, then block until the other has announced (the BAR example of Rocker,
// PLDI 2019). Robust because a blocking read of 1 cannot use the stale 0.

max_value 1;
global here0, here1;

fn party0 {
    here0.store(1, rel);
    wait(here1, 1, acq);
}

fn party1 {
    here1.store(1, rel);
    wait(here0, 1, acq);
}
