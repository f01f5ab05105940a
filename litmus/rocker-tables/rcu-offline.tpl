// Read-copy-update with quiescent states as in rcu.tpl, where a reader may also declare itself offline
// (value 2), so that the writer does not wait for it. Going offline and coming back are store
// buffering against the writer (announce, then read / publish, then look), so both sides need seq_cst
// fences; a reader that comes back repeats its announcement until the phase has not changed in
// between.

max_value 2;
global current, phase, seen1, seen2;
na copy0 = 1, copy1;
track seen1: all;
track seen2: all;

fn writer {
    while (1) {
        copy1.nastore(1);
        current.store(1, rel);
        phase.store(1, rel);
        fence;
        wait(seen1, 1, 2, acq);
        wait(seen2, 1, 2, acq);
        copy0.nastore(0);

        copy0.nastore(1);
        current.store(0, rel);
        phase.store(0, rel);
        fence;
        wait(seen1, 0, 2, acq);
        wait(seen2, 0, 2, acq);
        copy1.nastore(0);
    }
}

fn reader1 {
    local which, value, p, q;
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
        } {
            seen1.store(2, rel);
            fence;
            back: p = phase.load(acq);
            seen1.store(p, rel);
            fence;
            q = phase.load(acq);
            if (q != p) goto back;
        });
    }
}

fn reader2 {
    local which, value, p, q;
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
        } {
            seen2.store(2, rel);
            fence;
            back: p = phase.load(acq);
            seen2.store(p, rel);
            fence;
            q = phase.load(acq);
            if (q != p) goto back;
        });
    }
}
