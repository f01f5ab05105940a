// Szymanski's algorithm (A simple solution to Lamport's concurrent programming problem with linear
// wait, ICS 1988), two threads, endless: 1 wants in, 3 in the doorway, 2 waits for the other, 4 has
// closed the door. A fence after every store of the entry.

max_value 4;
global flag0, flag1;
na shared;

fn p0 {
    local o, s;
    while (1) {
        flag0.store(1, rel);
        fence;
        wait(flag1, 0, 1, 2, acq);
        flag0.store(3, rel);
        fence;
        o = flag1.load(acq);
        if (o == 1) {
            flag0.store(2, rel);
            fence;
            wait(flag1, 4, acq);
        }
        flag0.store(4, rel);
        fence;
        shared.nastore(0);
        s = shared.naload();
        assert(s == 0);
        wait(flag1, 0, 1, 4, acq);
        flag0.store(0, rel);
    }
}

fn p1 {
    local o, s;
    while (1) {
        flag1.store(1, rel);
        fence;
        wait(flag0, 0, 1, 2, acq);
        flag1.store(3, rel);
        fence;
        o = flag0.load(acq);
        if (o == 1) {
            flag1.store(2, rel);
            fence;
            wait(flag0, 4, acq);
        }
        flag1.store(4, rel);
        fence;
        wait(flag0, 0, 1, acq);
        shared.nastore(1);
        s = shared.naload();
        assert(s == 1);
        flag1.store(0, rel);
    }
}
