// As work-fetch-add.tpl with a load and a store in place of the fetch-add: two workers may draw the
// same cell, a data race under SC already.

max_value 7;
global next;
na cell0, cell1;

fn worker1 {
    local k;
    k = next.load(acq);
    while (k < 2) {
        next.store(k + 1, rel);
        if (k == 0) { cell0.nastore(1); }
        if (k == 1) { cell1.nastore(1); }
        k = next.load(acq);
    }
}

fn worker2 {
    local k;
    k = next.load(acq);
    while (k < 2) {
        next.store(k + 1, rel);
        if (k == 0) { cell0.nastore(2); }
        if (k == 1) { cell1.nastore(2); }
        k = next.load(acq);
    }
}
