max_value 1;
global a, b;

fn left {
    lock(a);
    lock(b);
    unlock(b);
    unlock(a);
}

fn right {
    lock(b);
    lock(a);
    unlock(a);
    unlock(b);
}
