// A one-slot mailbox: the producer waits until it is empty, the consumer until it is full; endless.

max_value 1;
global filled;
na slot;

fn producer {
    while (1) {
        wait(filled, 0, acq);
        slot.nastore(1);
        filled.store(1, rel);
    }
}

fn consumer {
    local v;
    while (1) {
        wait(filled, 1, acq);
        v = slot.naload();
        assert(v == 1);
        slot.nastore(0);
        filled.store(0, rel);
    }
}
