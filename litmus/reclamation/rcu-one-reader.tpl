// Quiescent-state RCU as in rocker-tables/rcu.tpl with one reader.

max_value 1;
global current, phase, seen;
na copy0 = 1, copy1;
track seen: 0, 1;

fn writer {
    while (1) {
        copy1.nastore(1);
        current.store(1, rel);
        phase.store(1, rel);
        wait(seen, 1, acq);
        copy0.nastore(0);

        copy0.nastore(1);
        current.store(0, rel);
        phase.store(0, rel);
        wait(seen, 0, acq);
        copy1.nastore(0);
    }
}

fn reader {
    local which, value, p;
    while (1) {
        oneof({
            which = current.load(acq);
            if (which) {
                value = copy1.naload();
            } else {
                value = copy0.naload();
            }
            assert(value == 1);
        } {
            p = phase.load(acq);
            seen.store(p, rel);
        });
    }
}
