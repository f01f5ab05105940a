// The THE protocol of Cilk-5's work-stealing queue (Frigo, Leiserson and Randall, PLDI 1998): the
// worker pushes and pops at the tail, a thief steals at the head under a lock; both announce first and
// look afterwards. At most three tasks. Only the worker has fences; the thief may announce and look in
// either order.

max_value 6;
global head = 1, tail = 1, guard;

fn worker {
    local h, t;
    while (1) {
        oneof({
            t = tail.load(acq);
            if (t < 4) {
                tail.store(t + 1, rel);
            }
        } {
            t = tail.load(acq);
            t = t - 1;
            tail.store(t, rel);
            fence;
            h = head.load(acq);
            if (h > t) {
                tail.store(t + 1, rel);
                lock(guard);
                tail.store(t, rel);
                fence;
                h = head.load(acq);
                if (h > t) {
                    tail.store(t + 1, rel);
                }
                unlock(guard);
            }
        });
    }
}

fn thief {
    local h, t;
    while (1) {
        lock(guard);
        h = head.load(acq);
        h = h + 1;
        head.store(h, rel);
        t = tail.load(acq);
        if (h > t) {
            head.store(h - 1, rel);
        }
        unlock(guard);
    }
}
