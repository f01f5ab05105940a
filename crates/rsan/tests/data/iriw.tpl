max_value 1;
global x, y;

fn write_x {
    x.store(1, rel);
}

fn write_y {
    y.store(1, rel);
}

fn read_xy {
    local r, s;
    r = x.load(acq);
    fence(seq_cst);
    s = y.load(acq);
}

fn read_yx {
    local r, s;
    r = y.load(acq);
    s = x.load(acq);
}
