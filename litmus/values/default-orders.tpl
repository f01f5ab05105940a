// Message passing without any order written: release/acquire under RA, relaxed under RC20 and C++20.

max_value 1;
global x, y;

fn p0 {
    x.store(1);
    y.store(1);
}

fn p1 {
    local r, s;
    r = y.load();
    s = x.load();
    assume(r == 1);
    verify(s);
}
