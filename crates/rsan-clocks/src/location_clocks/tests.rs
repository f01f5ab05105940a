use super::*;
use crate::ReleaseAcquire;
use rsan_model::{CasStrength, ReadOrd, RmwOrd, WriteOrd};

const X: LocId = LocId(0);
const Y: LocId = LocId(1);

fn store(value: Value, ord: WriteOrd) -> Effect {
    Effect::Write { value, ord }
}

/// The first half of store buffering: each thread has written its own flag, the first has read the other's.
fn store_buffering(monitor: &mut dyn Monitor, write: WriteOrd, read: ReadOrd) -> Option<Violation> {
    let (t0, t1) = (ThreadId(0), ThreadId(1));
    monitor.apply(t0, X, store(1, write));
    assert_eq!(monitor.check(t0, Y, &Access::Load(read)), None);
    monitor.apply(t0, Y, Effect::Read(read));
    assert_eq!(monitor.check(t1, Y, &Access::Store(write)), None);
    monitor.apply(t1, Y, store(1, write));
    monitor.check(t1, X, &Access::Load(read))
}

#[test]
fn store_buffering_is_flagged_and_names_both_writes() {
    let mut monitor = LocationClocks::<Rc20>::new([5, 7]);
    let violation = store_buffering(&mut monitor, WriteOrd::Release, ReadOrd::Acquire)
        .expect("a stale read is possible");
    assert_eq!(violation.missed.timestamp, Timestamp(1));
    assert_eq!(violation.missed.thread, Some(ThreadId(0)));
    assert_eq!(violation.missed.value, 1);
    assert_eq!(violation.stale.timestamp, Timestamp::INITIAL);
    assert_eq!(violation.stale.thread, None);
    assert_eq!(violation.stale.value, 5);
}

#[test]
fn seq_cst_accesses_repair_store_buffering_in_c20_only() {
    let (w, r) = (WriteOrd::SeqCst, ReadOrd::SeqCst);
    assert!(store_buffering(&mut LocationClocks::<C20>::new([]), w, r).is_none());
    assert!(store_buffering(&mut LocationClocks::<Rc20>::new([]), w, r).is_some());
    let (w, r) = (WriteOrd::SeqCst, ReadOrd::Acquire);
    assert!(store_buffering(&mut LocationClocks::<C20>::new([]), w, r).is_some());
}

#[test]
fn release_acquire_raises_orders() {
    let message_passing = |monitor: &mut dyn Monitor| {
        let (t0, t1) = (ThreadId(0), ThreadId(1));
        monitor.apply(t0, X, store(1, WriteOrd::Relaxed));
        monitor.apply(t0, Y, store(1, WriteOrd::Relaxed));
        monitor.apply(t1, Y, Effect::Read(ReadOrd::Relaxed));
        monitor
            .check(t1, X, &Access::Load(ReadOrd::Relaxed))
            .is_some()
    };
    let mut rc20 = LocationClocks::<Rc20>::new([]);
    assert!(message_passing(&mut rc20));
    let mut ra = ReleaseAcquire(LocationClocks::<Rc20>::new([]));
    assert!(!message_passing(&mut ra));
}

/// x = 1 by a plain write is missed by a thread that could see the initial 0.
#[test]
fn a_wait_is_flagged_for_any_of_its_values() {
    let mut monitor = LocationClocks::<C20>::new([0, 0]);
    store_buffering(&mut monitor, WriteOrd::Release, ReadOrd::Acquire);
    let wait = |values: &[Value]| {
        let ord = ReadOrd::Acquire;
        monitor
            .check(ThreadId(1), X, &Access::Wait { values, ord })
            .is_some()
    };
    assert!(!wait(&[1]));
    assert!(wait(&[0]));
    assert!(wait(&[1, 0]));
    assert!(!wait(&[1, 2]));
    let cas = |expected, strength| {
        let access = Access::Cas {
            expected,
            ord: RmwOrd::AcqRel,
            fail: ReadOrd::Acquire,
            strength,
        };
        monitor.check(ThreadId(1), X, &access).is_some()
    };
    assert!(cas(0, CasStrength::Strong), "succeeds on the stale 0");
    assert!(cas(1, CasStrength::Strong), "fails on the stale 0");
}

#[test]
fn mutexes_synchronise() {
    let mutex = LocId(2);
    let mut monitor = LocationClocks::<C20>::new([]);
    let (t0, t1) = (ThreadId(0), ThreadId(1));
    monitor.lock(t0, mutex);
    monitor.apply(t0, X, store(1, WriteOrd::Relaxed));
    monitor.unlock(t0, mutex);
    monitor.lock(t1, mutex);
    assert_eq!(monitor.lower_bound(t1, X, false), Timestamp(1));
    assert_eq!(monitor.check(t1, X, &Access::Load(ReadOrd::Relaxed)), None);
}

#[test]
fn a_forgotten_location_starts_anew() {
    let mut monitor = LocationClocks::<C20>::new([0, 0]);
    store_buffering(&mut monitor, WriteOrd::Release, ReadOrd::Acquire);
    monitor.forget(X, 9);
    let load = Access::Load(ReadOrd::Relaxed);
    assert_eq!(monitor.check(ThreadId(1), X, &load), None);
    assert_eq!(monitor.sc_bound(ThreadId(1), X), Timestamp::INITIAL);
    assert_eq!(monitor.history(X).map(History::last), Some(Timestamp(0)));
}
