// Two counters, incremented by statements without a result and without orders; a third thread polls
// one of them.

max_value 3;
global a, b;

fn p0 {
    FADD(a, 1);
    FADD(b, 1);
}

fn p1 {
    FADD(b, 1);
    FADD(a, 1);
}

fn p2 {
    local r;
    r = a.load();
}
