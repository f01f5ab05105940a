//! Where an execution leaves sequential consistency: what orders events besides happens-before is passed on to new threads, and by
//! those that end.

use crate::Engine;
use rsan_clocks::write_log::{Rules, SlotTable, ThreadState};
use rsan_model::{ReadOrd, ThreadId, WriteOrd};

/// A thread that writes, and one that has read what it wrote, without acquiring it.
fn written_and_read(engine: &mut Engine, slots: &mut SlotTable) -> ThreadState {
    let mut thread = |id| {
        let place = slots.assign(None, Rules::c20());
        ThreadState::initial(ThreadId(id), place, Rules::c20())
    };
    let (mut writer, mut reader) = (thread(0), thread(1));
    let [data, flag] = [8, 16].map(|name| engine.location(name, || 0));
    engine.store(&mut writer, data, 1, WriteOrd::Relaxed, 0);
    engine.store(&mut writer, flag, 1, WriteOrd::Relaxed, 0);
    let last = engine.last(flag);
    engine.read(&mut reader, flag, last, ReadOrd::Relaxed);
    reader
}

/// Whether a thread leaves sequential consistency if it misses the write of the data.
fn leaves(engine: &mut Engine, thread: &mut ThreadState) -> bool {
    let data = engine.location(8, || 0);
    let readable = engine.readable(thread, data, ReadOrd::Relaxed);
    assert_eq!(readable.len(), 2, "it is not ordered by happens-before");
    assert!(!engine.leaves_sc(thread, data, readable[1]));
    engine.leaves_sc(thread, data, readable[0])
}

#[test]
fn a_reader_leaves_it() {
    let (mut engine, mut slots) = (Engine::default(), SlotTable::new(None));
    let mut reader = written_and_read(&mut engine, &mut slots);
    assert!(leaves(&mut engine, &mut reader));
    let place = slots.assign(None, Rules::c20());
    let mut other = ThreadState::initial(ThreadId(2), place, Rules::c20());
    assert!(!leaves(&mut engine, &mut other));
}

#[test]
fn a_thread_that_it_creates_leaves_it() {
    let (mut engine, mut slots) = (Engine::default(), SlotTable::new(None));
    let mut reader = written_and_read(&mut engine, &mut slots);
    let place = slots.assign(Some(&reader), Rules::c20());
    let mut child = reader.spawn(ThreadId(2), place, Rules::c20());
    assert!(leaves(&mut engine, &mut child));
}

#[test]
fn a_thread_that_joins_it_leaves_it() {
    let (mut engine, mut slots) = (Engine::default(), SlotTable::new(None));
    let reader = written_and_read(&mut engine, &mut slots);
    let place = slots.assign(None, Rules::c20());
    let mut parent = ThreadState::initial(ThreadId(2), place, Rules::c20());
    assert!(!leaves(&mut engine, &mut parent));
    parent.join(&reader, Rules::c20());
    assert!(leaves(&mut engine, &mut parent));
}
