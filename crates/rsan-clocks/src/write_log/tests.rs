//! What the log form promises beyond equal answers: how little it stores.

use super::*;
use crate::{Access, Effect, Monitor, Observer, Timestamp};
use rsan_model::{FenceOrd, LocId, ReadOrd, RmwOrd, ThreadId, WriteOrd};

const X: LocId = LocId(0);
const Y: LocId = LocId(1);
const MUTEX: LocId = LocId(2);
const T0: ThreadId = ThreadId(0);
const T1: ThreadId = ThreadId(1);

fn log(options: Options) -> WriteLog<C20> {
    let mut log = WriteLog::new([], options);
    log.start(T0);
    log.start(T1);
    log
}

fn store(value: i32, ord: WriteOrd) -> Effect {
    Effect::Write { value, ord }
}

fn lengths(log: &WriteLog<C20>, loc: LocId) -> (usize, usize) {
    log.location(loc).expect("the location was used").log_len()
}

/// Both threads access both locations in turn, with these orders.
fn ping_pong(log: &mut WriteLog<C20>, read: ReadOrd, write: WriteOrd, rounds: i32) {
    for round in 0..rounds {
        for (thread, mine, theirs) in [(T0, X, Y), (T1, Y, X)] {
            log.apply(thread, mine, store(round, write));
            log.apply(thread, theirs, Effect::Read(read));
        }
    }
}

#[test]
fn programs_without_seq_cst_have_no_seq_cst_state() {
    let mut log = log(Options::default());
    ping_pong(&mut log, ReadOrd::Acquire, WriteOrd::Release, 50);
    log.fence(T0, FenceOrd::AcqRel);
    ping_pong(&mut log, ReadOrd::Relaxed, WriteOrd::Relaxed, 50);
    for loc in [X, Y] {
        assert!(!log.location(loc).expect("used").has_sc_part());
    }
}

#[test]
fn purely_seq_cst_programs_stay_saturated() {
    let mut log = log(Options::default());
    ping_pong(&mut log, ReadOrd::SeqCst, WriteOrd::SeqCst, 50);
    for loc in [X, Y] {
        let location = log.location(loc).expect("used");
        assert!(location.saturated && !location.has_sc_part());
    }
    for thread in [T0, T1] {
        let state = log.thread(thread).expect("used");
        assert!(state.saturated && state.view.sc.is_absent());
    }
    log.apply(T0, X, Effect::Read(ReadOrd::Relaxed));
    assert!(log.location(X).expect("used").has_sc_part());
    assert!(!log.thread(T0).expect("used").saturated);
    assert!(log.location(Y).expect("used").saturated);
}

#[test]
fn reads_that_synchronise_leave_no_entry() {
    let unpruned = Options {
        prune: false,
        ..Options::default()
    };
    for (read, write) in [
        (ReadOrd::Acquire, WriteOrd::Release),
        (ReadOrd::SeqCst, WriteOrd::SeqCst),
    ] {
        let mut log = log(unpruned);
        ping_pong(&mut log, read, write, 20);
        assert_eq!(lengths(&log, X), (21, 0));
    }
    let mut log = log(unpruned);
    ping_pong(&mut log, ReadOrd::Relaxed, WriteOrd::Relaxed, 20);
    assert_eq!(lengths(&log, X), (21, 20));
}

#[test]
fn re_reading_stores_nothing() {
    let mut log = log(Options::default());
    log.apply(T0, X, store(1, WriteOrd::Relaxed));
    log.apply(T1, X, Effect::Read(ReadOrd::Relaxed));
    let before = (lengths(&log, X), log.thread(T1).expect("used").stamp());
    for _ in 0..100 {
        log.apply(T1, X, Effect::Read(ReadOrd::Relaxed));
    }
    let after = (lengths(&log, X), log.thread(T1).expect("used").stamp());
    assert_eq!(
        before, after,
        "a spinning reader costs no memory and no epoch"
    );
}

#[test]
fn pruning_bounds_the_log_when_threads_synchronise() {
    let mut log = log(Options::default());
    ping_pong(&mut log, ReadOrd::Acquire, WriteOrd::Release, 1000);
    let (records, readers) = lengths(&log, X);
    assert!(records <= 16 && readers == 0, "{records} {readers}");
    assert_eq!(
        log.location(X).expect("used").last_write(),
        Timestamp(1000),
        "positions count dropped writes too"
    );
}

#[test]
fn an_idle_thread_pins_the_log_and_the_cap_bounds_it() {
    let idle = ThreadId(2);
    for (cap, most) in [(None, usize::MAX), (Some(8), 16)] {
        let mut log = log(Options {
            cap,
            ..Options::default()
        });
        log.start(idle);
        ping_pong(&mut log, ReadOrd::Acquire, WriteOrd::Release, 500);
        let (records, _) = lengths(&log, X);
        assert!(records <= most);
        assert_eq!(cap.is_none(), records == 501);
    }
}

#[test]
fn joined_threads_give_their_slots_back() {
    let mut log = log(Options::default());
    for i in 0..100 {
        let child = ThreadId(2 + i);
        log.spawn(T0, child);
        log.apply(child, X, store(1, WriteOrd::Relaxed));
        log.exit(child);
        log.join(T0, child);
        assert!(log.thread(child).is_none(), "a joined thread is forgotten");
    }
    let counts = log.slot_counts();
    assert_eq!((counts.exact, counts.forced), (99, 0));
    log.start(ThreadId(200));
    let fresh = log.thread(ThreadId(200)).expect("just started");
    assert_eq!(fresh.slot(), Slot(3), "one slot served them all");
}

#[test]
fn mutexes_synchronise_and_are_never_flagged() {
    let mut log = log(Options::default());
    let bcas = Access::Bcas {
        expected: 0,
        ord: RmwOrd::Acquire,
    };
    for _ in 0..100 {
        for thread in [T0, T1] {
            assert_eq!(log.check(thread, MUTEX, &bcas), None);
            log.lock(thread, MUTEX);
            assert_eq!(log.check(thread, X, &Access::Load(ReadOrd::Relaxed)), None);
            log.apply(thread, X, store(1, WriteOrd::Relaxed));
            log.unlock(thread, MUTEX);
        }
    }
    assert!(lengths(&log, MUTEX).0 <= 16);
}

#[test]
fn a_forgotten_location_owns_nothing() {
    let mut log = log(Options::default());
    ping_pong(&mut log, ReadOrd::SeqCst, WriteOrd::Relaxed, 10);
    log.forget(X, 7);
    let location = log.location(X).expect("used");
    assert_eq!(location.log_len(), (1, 0));
    assert!(!location.has_sc_part() && location.access_past.is_zero());
    assert_eq!(location.last_write(), Timestamp::INITIAL);
}

/// What a runtime does: thread and location states of its own, no table.
#[test]
fn states_work_without_the_monitor() {
    let rules = Rules::default();
    let mut slots = SlotTable::new(None);
    let mut main = ThreadState::initial(T0, slots.assign(None, rules), rules);
    let place = slots.assign(Some(&main), rules);
    let mut other = main.spawn(T1, place, rules);
    let mut x = LocationState::new(5, rules);
    let mut y = LocationState::new(0, rules);
    x.apply(&mut main, store(1, WriteOrd::Release), rules);
    y.apply(&mut main, Effect::Read(ReadOrd::Acquire), rules);
    y.apply(&mut other, store(1, WriteOrd::Release), rules);
    let load = Access::Load(ReadOrd::Acquire);
    let weak = x.check(&other, &load, rules).expect("store buffering");
    let value = |write| x.note(write).expect("it is in the log").1;
    assert_eq!((value(weak.stale), value(weak.missed)), (5, 1));
    x.prune([main.knowledge(), other.knowledge()]);
    assert_eq!(x.log_len(), (2, 0), "the other thread can still see 5");
    slots.retire(&other);
    main.join(&other, rules);
    x.prune([main.knowledge()]);
    assert_eq!(x.log_len(), (1, 0));
}
