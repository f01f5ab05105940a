// A plain counter incremented under a mutex by three threads, twice each; lock and unlock are the
// blocking CAS and release store of the language.

max_value 6;
global m;
na counter;

fn p0 {
    local k, c;
    while (k < 2) {
        k = k + 1;
        lock(m);
        c = counter.naload();
        counter.nastore(c + 1);
        unlock(m);
    }
}

fn p1 {
    local k, c;
    while (k < 2) {
        k = k + 1;
        lock(m);
        c = counter.naload();
        counter.nastore(c + 1);
        unlock(m);
    }
}

fn p2 {
    local k, c;
    while (k < 2) {
        k = k + 1;
        lock(m);
        c = counter.naload();
        counter.nastore(c + 1);
        unlock(m);
    }
}
