// Queue of Michael and Scott (PODC 1996), one thread enqueues two nodes, another dequeues until empty;
// node 1 is the dummy. The enqueuer never helps, so it is message passing on the links.

max_value 3;
global next1, next2;
na value2, value3;

fn enqueue {
    value2.nastore(2);
    next1.store(2, rel);
    value3.nastore(3);
    next2.store(3, rel);
}

fn dequeue {
    local n, v;
    n = next1.load(acq);
    if (n == 2) {
        v = value2.naload();
        assert(v == 2);
        n = next2.load(acq);
        if (n == 3) {
            v = value3.naload();
            assert(v == 3);
        }
    }
}
