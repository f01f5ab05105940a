// Read-copy-update with quiescent states as in rcu.tpl, where a reader may also declare itself offline
// (value 2), so that the writer does not wait for it, and back online (value 3: it has seen no phase
// yet). Coming back is store buffering against the writer (announce, then read / publish, then look).
// The bare protocol with two readers, a seq_cst fence on both sides.
// Search depth that Rocker needs, as a power of ten: spin_depth 8

max_value 3;
global current, phase, seen1, seen2;
track seen1: all;
track seen2: all;

fn writer {
    while (1) {
        current.store(1, rel);
        phase.store(1, rel);
        fence;
        wait(seen1, 1, 2, acq);
        wait(seen2, 1, 2, acq);
        current.store(0, rel);
        phase.store(0, rel);
        fence;
        wait(seen1, 0, 2, acq);
        wait(seen2, 0, 2, acq);
    }
}

fn reader1 {
    local which, p;
    while (1) {
        oneof({
            which = current.load(acq);
        } {
            p = phase.load(acq);
            seen1.store(p, rel);
        } {
            seen1.store(2, rel);
            seen1.store(3, rel);
            fence;
        });
    }
}

fn reader2 {
    local which, p;
    while (1) {
        oneof({
            which = current.load(acq);
        } {
            p = phase.load(acq);
            seen2.store(p, rel);
        } {
            seen2.store(2, rel);
            seen2.store(3, rel);
            fence;
        });
    }
}
