// As mutex-counter.tpl with a thread that increments without the lock: a data race.

max_value 6;
global m;
na counter;

fn careful {
    local c;
    lock(m);
    c = counter.naload();
    counter.nastore(c + 1);
    unlock(m);
}

fn careless {
    local c;
    c = counter.naload();
    counter.nastore(c + 1);
}
