// Reference counting as in Rust's Arc: the first thread clones (relaxed increment) and hands the clone
// over by a release store, both drop.

max_value 3;
global count = 1, box;
na value = 3;

fn owner {
    local v, n;
    n = FADD(count, 1, rlx, rlx);
    box.store(1, rel);
    v = value.naload();
    assert(v == 3);
    n = FADD(count, -1, rlx, rel);
    if (n == 1) {
        fence(acq);
        value.nastore(0);
    }
}

fn borrower {
    local v, n;
    wait(box, 1, acq);
    v = value.naload();
    assert(v == 3);
    n = FADD(count, -1, rlx, rel);
    if (n == 1) {
        fence(acq);
        value.nastore(0);
    }
}
