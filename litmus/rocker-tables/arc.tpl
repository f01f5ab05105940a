// Atomic reference count as in Rust's Arc without weak handles: clone is a relaxed increment, drop a
// release decrement, and the last one out runs an acquire fence before it destroys the value (writes
// 0). Three threads, each holding or not holding a handle, pass clones to each other through mailboxes
// for ever.
// Search depth that Rocker needs, as a power of ten: spin_depth 8

max_value 5;
global count = 1, value = 3, box1 = 1, box2, box3;
track count: all;
track box1: 0, 1;
track box2: 0, 1;
track box3: 0, 1;

fn thread1 {
    local holds, v, n;
    while (1) {
        if (holds) {
            oneof({
                n = FADD(count, 1, rlx, rlx);
                BCAS(box2, 0, 1, rlx, rel);
            } {
                n = FADD(count, 1, rlx, rlx);
                BCAS(box3, 0, 1, rlx, rel);
            } {
                v = value.load(rlx);
                assert(v == 3);
            } {
                n = FADD(count, -1, rlx, rel);
                if (n == 1) {
                    fence(acq);
                    value.store(0, rlx);
                }
                holds = 0;
                box1.store(0, rel);
            });
        } else {
            wait(box1, 1, acq);
            holds = 1;
        }
    }
}

fn thread2 {
    local holds, v, n;
    while (1) {
        if (holds) {
            oneof({
                n = FADD(count, 1, rlx, rlx);
                BCAS(box1, 0, 1, rlx, rel);
            } {
                n = FADD(count, 1, rlx, rlx);
                BCAS(box3, 0, 1, rlx, rel);
            } {
                v = value.load(rlx);
                assert(v == 3);
            } {
                n = FADD(count, -1, rlx, rel);
                if (n == 1) {
                    fence(acq);
                    value.store(0, rlx);
                }
                holds = 0;
                box2.store(0, rel);
            });
        } else {
            wait(box2, 1, acq);
            holds = 1;
        }
    }
}

fn thread3 {
    local holds, v, n;
    while (1) {
        if (holds) {
            oneof({
                n = FADD(count, 1, rlx, rlx);
                BCAS(box1, 0, 1, rlx, rel);
            } {
                n = FADD(count, 1, rlx, rlx);
                BCAS(box2, 0, 1, rlx, rel);
            } {
                v = value.load(rlx);
                assert(v == 3);
            } {
                n = FADD(count, -1, rlx, rel);
                if (n == 1) {
                    fence(acq);
                    value.store(0, rlx);
                }
                holds = 0;
                box3.store(0, rel);
            });
        } else {
            wait(box3, 1, acq);
            holds = 1;
        }
    }
}
