// Read-copy-update with quiescent states as in rcu.tpl, where a reader may also declare itself offline
// (value 2), so that the writer does not wait for it, and back online (value 3: it has seen no phase
// yet). Coming back is store buffering against the writer (announce, then read / publish, then look).
// One reader, plain data; the writer has no fence.

max_value 3;
global current, phase, seen1;
na copy0 = 1, copy1;
track seen1: all;

fn writer {
    while (1) {
        copy1.nastore(1);
        current.store(1, rel);
        phase.store(1, rel);
        wait(seen1, 1, 2, acq);
        copy0.nastore(0);
        copy0.nastore(1);
        current.store(0, rel);
        phase.store(0, rel);
        wait(seen1, 0, 2, acq);
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
        } {
            seen1.store(2, rel);
            seen1.store(3, rel);
            fence;
        });
    }
}
