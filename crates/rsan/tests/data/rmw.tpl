max_value 3;
global x, y;

fn left {
    local r;
    x.store(1);
    r = FADD(y, 1);
}

fn right {
    local r;
    y.store(2);
    r = FADD(x, 1);
}
