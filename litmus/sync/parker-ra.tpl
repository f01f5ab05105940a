// Sleeping until there is work, the shape of an eventcount or of a parked thread (D. Dice, A race in
// LockSupport park(), 2009): the sleeper announces itself and then looks for work, the waker publishes
// work and then looks for a sleeper. Without fences both may miss the other, and the wake-up is lost.

max_value 1;
global work, sleeping, wake;

fn sleeper {
    local w;
    while (1) {
        sleeping.store(1, rel);
        w = work.load(acq);
        if (w == 0) {
            wait(wake, 1, acq);
            wake.store(0, rlx);
        }
        sleeping.store(0, rel);
        work.store(0, rel);
    }
}

fn waker {
    local s;
    while (1) {
        work.store(1, rel);
        s = sleeping.load(acq);
        if (s == 1) {
            wake.store(1, rel);
        }
    }
}
