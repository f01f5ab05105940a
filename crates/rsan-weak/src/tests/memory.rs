//! What is remembered stays little, however long the execution is.

use crate::{Engine, LocationId, horizon};
use rsan_clocks::write_log::{Rules, SlotTable, ThreadState};
use rsan_model::{FenceOrd, ReadOrd, RmwOrd, ThreadId, WriteOrd};

fn threads<const N: usize>() -> [ThreadState; N] {
    let mut slots = SlotTable::new(None);
    std::array::from_fn(|id| {
        let place = slots.assign(None, Rules::c20());
        ThreadState::initial(ThreadId::new(id), place, Rules::c20())
    })
}

/// Reads the last write.
fn read_last(engine: &mut Engine, thread: &mut ThreadState, at: LocationId, ord: ReadOrd) {
    let readable = engine.readable(thread, at, ord);
    engine.read(thread, at, readable[readable.len() - 1], ord);
}

#[test]
fn threads_that_synchronise_leave_little() {
    let mut engine = Engine::default();
    let mut threads = threads::<2>();
    let [data, flag] = [8, 16].map(|name| engine.location(name, || 0));
    let mut most = 0;
    for round in 0..2_500_000_u32 {
        let turn = round as usize % 2;
        let thread = &mut threads[turn];
        read_last(&mut engine, thread, flag, ReadOrd::Acquire);
        for _ in 0..3 {
            engine.store(thread, data, round.into(), WriteOrd::Relaxed, 0);
        }
        if round % 16 == 0 {
            engine.fence(thread, FenceOrd::SeqCst);
        }
        engine.store(thread, flag, round.into(), WriteOrd::Release, 0);
        if round % 64 == 0 {
            engine.prune(&horizon(threads.iter().map(ThreadState::hb)));
        }
        most = most.max(engine.records());
    }
    assert!(most < 1500, "{most} records");
}

#[test]
fn with_a_window_little_is_left_without_synchronisation_too() {
    const WINDOW: u64 = 1000;
    let mut engine = Engine::default();
    engine.set_window(Some(WINDOW));
    let mut threads = threads::<3>();
    let [data, count] = [8, 16].map(|name| engine.location(name, || 0));
    let mut most = 0;
    for round in 0..100_000_u32 {
        let thread = &mut threads[round as usize % 3];
        engine.store(thread, data, round.into(), WriteOrd::SeqCst, 0);
        let updatable = engine.updatable(thread, count, RmwOrd::Relaxed);
        let last = updatable[updatable.len() - 1];
        engine.update(thread, count, last, round.into(), RmwOrd::Relaxed, 0);
        engine.fence(thread, FenceOrd::SeqCst);
        read_last(&mut engine, thread, data, ReadOrd::Relaxed);
        most = most.max(engine.records());
    }
    assert!(most < 8 * WINDOW as usize, "{most} records");
    assert!(most > WINDOW as usize / 2, "only {most} records");
}

#[test]
fn forgotten_locations_make_room_for_others() {
    let mut engine = Engine::default();
    let [mut thread] = threads::<1>();
    for name in 0..100_000 {
        let at = engine.location(name, || 7);
        let writes = engine.readable(&mut thread, at, ReadOrd::Relaxed);
        let values = writes.iter().map(|write| engine.write(at, *write).value);
        assert_eq!(values.collect::<Vec<_>>(), [7]);
        engine.store(&mut thread, at, 1, WriteOrd::Relaxed, 0);
        engine.forget(name);
    }
    assert!(engine.records() < 10, "{} records", engine.records());
}

#[test]
fn a_thread_that_takes_over_a_slot_begins_with_nothing() {
    let mut slots = SlotTable::new(None);
    let rules = Rules::c20();
    let mut parent = ThreadState::initial(ThreadId(0), slots.assign(None, rules), rules);
    let mut engine = Engine::default();
    let [flag, data] = [8, 16].map(|name| engine.location(name, || 0));
    let mut child = parent.spawn(ThreadId(1), slots.assign(Some(&parent), rules), rules);
    engine.store(&mut child, data, 1, WriteOrd::Relaxed, 0);
    engine.fence(&mut child, FenceOrd::Release);
    slots.retire(&child);
    parent.join(&child, rules);
    let place = slots.assign(Some(&parent), rules);
    let mut next = parent.spawn(ThreadId(2), place, rules);
    assert_eq!(next.slot(), child.slot());
    // The fence was the other thread's: this store carries nothing.
    engine.store(&mut next, flag, 1, WriteOrd::Relaxed, 0);
    let mut reader = ThreadState::initial(ThreadId(3), slots.assign(None, rules), rules);
    let flags = engine.readable(&mut reader, flag, ReadOrd::Acquire);
    engine.read(&mut reader, flag, flags[1], ReadOrd::Acquire);
    assert_eq!(
        engine.readable(&mut reader, data, ReadOrd::Relaxed).len(),
        2
    );
}
