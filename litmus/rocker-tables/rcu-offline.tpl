// Read-copy-update with quiescent states as in rcu.tpl, where every thread may be reader and updater, and may go offline, so
// that updaters do not wait for it. `seen` of a thread is the last phase that it has taken note of, or 0 while it is
// offline. An updater (one at a time, itself offline) fills the copy that is not in use, makes readers change over,
// begins a new phase, and empties the old copy when every thread has seen the phase or is offline. Coming back
// online is store buffering against that: announce, then read / publish, then look; so both have a seq_cst fence. Each
// thread updates at most four times, so that phases have an end.
// Search depth that Rocker needs, as a power of ten: spin_depth 8

max_value 31;
global updater, current, phase = 1, copy0 = 1, copy1, seen1, seen2, seen3;
track updater: 0;
track seen1: all;
track seen2: all;
track seen3: all;

fn peer1 {
    local online, updates, which, value, p;
    while (1) {
        if (online) {
            oneof({
                which = current.load(acq);
                if (which) {
                    value = copy1.load(acq);
                } else {
                    value = copy0.load(acq);
                }
                assert(value == 1);
            } {
                p = phase.load(acq);
                seen1.store(p, rel);
                fence;
            } {
                seen1.store(0, rel);
                fence;
                online = 0;
            });
        } else {
            oneof({
                p = phase.load(acq);
                seen1.store(p, rel);
                fence;
                online = 1;
            } {
                if (updates < 4) {
                    updates = updates + 1;
                    lock(updater);
                    which = current.load(acq);
                    if (which) {
                        copy0.store(1, rel);
                    } else {
                        copy1.store(1, rel);
                    }
                    current.store(!which, rel);
                    p = phase.load(acq);
                    p = p + 1;
                    phase.store(p, rel);
                    fence;
                    wait(seen1, p, 0, acq);
                    wait(seen2, p, 0, acq);
                    wait(seen3, p, 0, acq);
                    if (which) {
                        copy1.store(0, rel);
                    } else {
                        copy0.store(0, rel);
                    }
                    unlock(updater);
                }
            });
        }
    }
}

fn peer2 {
    local online, updates, which, value, p;
    while (1) {
        if (online) {
            oneof({
                which = current.load(acq);
                if (which) {
                    value = copy1.load(acq);
                } else {
                    value = copy0.load(acq);
                }
                assert(value == 1);
            } {
                p = phase.load(acq);
                seen2.store(p, rel);
                fence;
            } {
                seen2.store(0, rel);
                fence;
                online = 0;
            });
        } else {
            oneof({
                p = phase.load(acq);
                seen2.store(p, rel);
                fence;
                online = 1;
            } {
                if (updates < 4) {
                    updates = updates + 1;
                    lock(updater);
                    which = current.load(acq);
                    if (which) {
                        copy0.store(1, rel);
                    } else {
                        copy1.store(1, rel);
                    }
                    current.store(!which, rel);
                    p = phase.load(acq);
                    p = p + 1;
                    phase.store(p, rel);
                    fence;
                    wait(seen1, p, 0, acq);
                    wait(seen2, p, 0, acq);
                    wait(seen3, p, 0, acq);
                    if (which) {
                        copy1.store(0, rel);
                    } else {
                        copy0.store(0, rel);
                    }
                    unlock(updater);
                }
            });
        }
    }
}

fn peer3 {
    local online, updates, which, value, p;
    while (1) {
        if (online) {
            oneof({
                which = current.load(acq);
                if (which) {
                    value = copy1.load(acq);
                } else {
                    value = copy0.load(acq);
                }
                assert(value == 1);
            } {
                p = phase.load(acq);
                seen3.store(p, rel);
                fence;
            } {
                seen3.store(0, rel);
                fence;
                online = 0;
            });
        } else {
            oneof({
                p = phase.load(acq);
                seen3.store(p, rel);
                fence;
                online = 1;
            } {
                if (updates < 4) {
                    updates = updates + 1;
                    lock(updater);
                    which = current.load(acq);
                    if (which) {
                        copy0.store(1, rel);
                    } else {
                        copy1.store(1, rel);
                    }
                    current.store(!which, rel);
                    p = phase.load(acq);
                    p = p + 1;
                    phase.store(p, rel);
                    fence;
                    wait(seen1, p, 0, acq);
                    wait(seen2, p, 0, acq);
                    wait(seen3, p, 0, acq);
                    if (which) {
                        copy1.store(0, rel);
                    } else {
                        copy0.store(0, rel);
                    }
                    unlock(updater);
                }
            });
        }
    }
}
