// Arc::get_mut without weak handles: an owner that sees a count of 1 with an acquire load may write
// the value.

max_value 3;
global count = 2;
na value = 3;

fn writer {
    local n;
    n = count.load(acq);
    if (n == 1) {
        value.nastore(2);
    }
}

fn reader {
    local v, n;
    v = value.naload();
    assert(v == 3);
    n = FADD(count, -1, rlx, rel);
}
