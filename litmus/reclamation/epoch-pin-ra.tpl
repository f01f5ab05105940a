// As epoch-pin.tpl without fences: store buffering, the object may be destroyed in use.

max_value 2;
global pointer = 1, pinned;
na object = 1;

fn reader {
    local p, v;
    pinned.store(1, rlx);
    p = pointer.load(acq);
    if (p == 1) {
        v = object.naload();
        assert(v == 1);
    }
    pinned.store(0, rel);
}

fn reclaimer {
    local a;
    pointer.store(2, rel);
    a = pinned.load(acq);
    if (a == 0) {
        object.nastore(0);
    }
}
