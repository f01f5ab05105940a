// Read-copy-update with quiescent states (Desnoyers et al., IEEE TPDS 23(2), 2012; the shape is that
// of Lahav and Vafeiadis, ICALP 2015): two copies, the writer publishes one, starts a grace period by
// flipping the phase and waits until each reader has repeated the phase; only then it destroys (writes
// 0 to) the old copy. Readers read at will and report quiescent states at will. Everything is message
// passing, so release/acquire suffices.
// Search depth that Rocker needs, as a power of ten: spin_depth 8

max_value 1;
global current, phase, seen1, seen2, seen3;
na copy0 = 1, copy1;
track seen1: 0, 1;
track seen2: 0, 1;
track seen3: 0, 1;

fn writer {
    while (1) {
        copy1.nastore(1);
        current.store(1, rel);
        phase.store(1, rel);
        wait(seen1, 1, acq);
        wait(seen2, 1, acq);
        wait(seen3, 1, acq);
        copy0.nastore(0);

        copy0.nastore(1);
        current.store(0, rel);
        phase.store(0, rel);
        wait(seen1, 0, acq);
        wait(seen2, 0, acq);
        wait(seen3, 0, acq);
        copy1.nastore(0);
    }
}

fn reader1 {
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
            seen1.store(p, rel);
        });
    }
}

fn reader2 {
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
            seen2.store(p, rel);
        });
    }
}

fn reader3 {
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
            seen3.store(p, rel);
        });
    }
}
