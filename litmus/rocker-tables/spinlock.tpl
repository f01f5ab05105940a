// Test-and-set spinlock that waits for the lock to be free before it tries again (Owens, ECOOP 2010,
// has the Linux form), two threads in an endless loop, release/acquire.

max_value 1;
global held;
na shared;

fn p0 {
    local old, s;
    while (1) {
        old = exchange(held, 1, acq, rel);
        if (old == 0) {
            shared.nastore(0);
            s = shared.naload();
            assert(s == 0);
            held.store(0, rel);
        } else {
            wait(held, 0, acq);
        }
    }
}

fn p1 {
    local old, s;
    while (1) {
        old = exchange(held, 1, acq, rel);
        if (old == 0) {
            shared.nastore(1);
            s = shared.naload();
            assert(s == 1);
            held.store(0, rel);
        } else {
            wait(held, 0, acq);
        }
    }
}
