// Double-checked locking (Schmidt and Harrison, PLoP 1996; broken and repaired many times since): the
// pointer is read with acquire outside the lock and stored with release inside. Four threads; one of
// three objects is allocated.

max_value 3;
global pointer, mutex, object1, object2, object3;

fn user1 {
    local p, v;
    p = pointer.load(acq);
    if (p == 0) {
        lock(mutex);
        p = pointer.load(rlx);
        if (p == 0) {
            oneof({
                object1.store(1, rlx);
                p = 1;
            } {
                object2.store(2, rlx);
                p = 2;
            } {
                object3.store(3, rlx);
                p = 3;
            });
            pointer.store(p, rel);
        }
        unlock(mutex);
    }
    if (p == 1) {
        v = object1.load(rlx);
    }
    if (p == 2) {
        v = object2.load(rlx);
    }
    if (p == 3) {
        v = object3.load(rlx);
    }
    assert(v == p);
}

fn user2 {
    local p, v;
    p = pointer.load(acq);
    if (p == 0) {
        lock(mutex);
        p = pointer.load(rlx);
        if (p == 0) {
            oneof({
                object1.store(1, rlx);
                p = 1;
            } {
                object2.store(2, rlx);
                p = 2;
            } {
                object3.store(3, rlx);
                p = 3;
            });
            pointer.store(p, rel);
        }
        unlock(mutex);
    }
    if (p == 1) {
        v = object1.load(rlx);
    }
    if (p == 2) {
        v = object2.load(rlx);
    }
    if (p == 3) {
        v = object3.load(rlx);
    }
    assert(v == p);
}

fn user3 {
    local p, v;
    p = pointer.load(acq);
    if (p == 0) {
        lock(mutex);
        p = pointer.load(rlx);
        if (p == 0) {
            oneof({
                object1.store(1, rlx);
                p = 1;
            } {
                object2.store(2, rlx);
                p = 2;
            } {
                object3.store(3, rlx);
                p = 3;
            });
            pointer.store(p, rel);
        }
        unlock(mutex);
    }
    if (p == 1) {
        v = object1.load(rlx);
    }
    if (p == 2) {
        v = object2.load(rlx);
    }
    if (p == 3) {
        v = object3.load(rlx);
    }
    assert(v == p);
}

fn user4 {
    local p, v;
    p = pointer.load(acq);
    if (p == 0) {
        lock(mutex);
        p = pointer.load(rlx);
        if (p == 0) {
            oneof({
                object1.store(1, rlx);
                p = 1;
            } {
                object2.store(2, rlx);
                p = 2;
            } {
                object3.store(3, rlx);
                p = 3;
            });
            pointer.store(p, rel);
        }
        unlock(mutex);
    }
    if (p == 1) {
        v = object1.load(rlx);
    }
    if (p == 2) {
        v = object2.load(rlx);
    }
    if (p == 3) {
        v = object3.load(rlx);
    }
    assert(v == p);
}
