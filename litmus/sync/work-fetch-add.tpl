// Three workers draw the next index of a shared range with a relaxed fetch-add and fill that plain
// cell: the RMW alone makes the cells disjoint.

max_value 15;
global next;
na cell0, cell1, cell2, cell3;

fn worker1 {
    local k;
    k = FADD(next, 1, rlx, rlx);
    while (k < 4) {
        if (k == 0) { cell0.nastore(1); }
        if (k == 1) { cell1.nastore(1); }
        if (k == 2) { cell2.nastore(1); }
        if (k == 3) { cell3.nastore(1); }
        k = FADD(next, 1, rlx, rlx);
    }
}

fn worker2 {
    local k;
    k = FADD(next, 1, rlx, rlx);
    while (k < 4) {
        if (k == 0) { cell0.nastore(2); }
        if (k == 1) { cell1.nastore(2); }
        if (k == 2) { cell2.nastore(2); }
        if (k == 3) { cell3.nastore(2); }
        k = FADD(next, 1, rlx, rlx);
    }
}

fn worker3 {
    local k;
    k = FADD(next, 1, rlx, rlx);
    while (k < 4) {
        if (k == 0) { cell0.nastore(3); }
        if (k == 1) { cell1.nastore(3); }
        if (k == 2) { cell2.nastore(3); }
        if (k == 3) { cell3.nastore(3); }
        k = FADD(next, 1, rlx, rlx);
    }
}
