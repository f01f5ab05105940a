// Two plain counters under two mutexes, always taken in the same order.

max_value 2;
global m, n;
na a, b;

fn p0 {
    local r;
    lock(m);
    r = a.naload();
    a.nastore(r + 1);
    lock(n);
    r = b.naload();
    b.nastore(r + 1);
    unlock(n);
    unlock(m);
}

fn p1 {
    local r;
    lock(m);
    r = a.naload();
    a.nastore(r + 1);
    lock(n);
    r = b.naload();
    b.nastore(r + 1);
    unlock(n);
    unlock(m);
}
