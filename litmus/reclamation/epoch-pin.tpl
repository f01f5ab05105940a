// Pinning in epoch-based reclamation (Fraser, 2004), reduced to one bit: the reader pins and then
// reads the pointer, the reclaimer unlinks and then looks for pins.

max_value 2;
global pointer = 1, pinned;
na object = 1;

fn reader {
    local p, v;
    pinned.store(1, rlx);
    fence;
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
    fence;
    a = pinned.load(acq);
    if (a == 0) {
        object.nastore(0);
    }
}
