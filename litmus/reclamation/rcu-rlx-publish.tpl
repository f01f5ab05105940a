// A pointer published relaxed to readers: the contents race. The missing rcu_assign_pointer of the
// Linux kernel.

max_value 1;
global pointer;
na contents;

fn updater {
    contents.nastore(1);
    pointer.store(1, rlx);
}

fn reader {
    local p, v;
    p = pointer.load(acq);
    if (p == 1) {
        v = contents.naload();
    }
}
