// As mailbox.tpl with a relaxed store when the slot is emptied: the consumer's accesses race with the
// next message.

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
        filled.store(0, rlx);
    }
}
