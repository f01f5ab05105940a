use super::*;
use crate::write_log::{C20, Options, Rc20, WriteLog};
use rsan_model::{ReadOrd, WriteOrd};

const DATA: LocId = LocId(0);
const FLAG: LocId = LocId(1);
const OTHER: LocId = LocId(2);
const T0: ThreadId = ThreadId(0);
const T1: ThreadId = ThreadId(1);

/// All detectors for SC fences that are thread-local, or synchronise.
fn detectors(sc_fences: ScFences) -> [Box<dyn RaceMonitor>; 2] {
    let log: Box<dyn RaceMonitor> = match sc_fences {
        ScFences::Local => Box::new(WriteLog::<C20>::new([], Options::default())),
        ScFences::Synchronise => Box::new(WriteLog::<Rc20>::new([], Options::default())),
    };
    [Box::new(RaceClocks::new(sc_fences)), log]
}

fn atomic(detector: &mut dyn RaceMonitor, thread: ThreadId, loc: LocId, effect: Effect) {
    detector.apply(thread, loc, effect);
    assert_eq!(detector.race(thread, loc, effect.access_kind()), None);
}

fn store(ord: WriteOrd) -> Effect {
    Effect::Write { value: 1, ord }
}

/// Message passing with these orders; the race of the last access, if any.
fn message_passing(detector: &mut dyn RaceMonitor, write: WriteOrd, read: ReadOrd) -> Option<Race> {
    assert_eq!(detector.race(T0, DATA, AccessKind::PlainWrite), None);
    atomic(detector, T0, FLAG, store(write));
    atomic(detector, T1, FLAG, Effect::Read(read));
    detector.race(T1, DATA, AccessKind::PlainRead)
}

#[test]
fn message_passing_needs_release_and_acquire() {
    for write in WriteOrd::ALL {
        for read in ReadOrd::ALL {
            for mut detector in detectors(ScFences::Local) {
                let race = message_passing(detector.as_mut(), write, read);
                assert_eq!(race.is_none(), write.releases() && read.acquires());
            }
        }
    }
}

#[test]
fn a_race_names_both_sides() {
    for mut detector in detectors(ScFences::Local) {
        let (write, read) = (WriteOrd::Relaxed, ReadOrd::Acquire);
        let race = message_passing(detector.as_mut(), write, read).expect("a race");
        let (thread, kind) = (T0, AccessKind::PlainWrite);
        assert_eq!(race.earlier, RaceSide { thread, kind });
        let (thread, kind) = (T1, AccessKind::PlainRead);
        assert_eq!(race.later, RaceSide { thread, kind });
        assert_eq!(race.loc, DATA);
    }
}

/// A release that does not cover an access after it.
#[test]
fn accesses_after_the_release_are_not_covered() {
    for mut detector in detectors(ScFences::Local) {
        let detector = detector.as_mut();
        atomic(detector, T0, FLAG, store(WriteOrd::Release));
        assert_eq!(detector.race(T0, DATA, AccessKind::PlainWrite), None);
        atomic(detector, T1, FLAG, Effect::Read(ReadOrd::Acquire));
        assert!(detector.race(T1, DATA, AccessKind::PlainWrite).is_some());
    }
}

#[test]
fn fork_and_join_order_accesses() {
    for mut detector in detectors(ScFences::Local) {
        let write = AccessKind::PlainWrite;
        assert_eq!(detector.race(T0, DATA, write), None);
        detector.spawn(T0, T1);
        assert_eq!(detector.race(T0, OTHER, write), None);
        assert_eq!(detector.race(T1, DATA, write), None);
        assert!(detector.race(T1, OTHER, write).is_some());
        detector.exit(T1);
        detector.join(T0, T1);
        assert_eq!(detector.race(T0, DATA, write), None);
        assert_eq!(detector.race(T0, OTHER, write), None);
    }
}

#[test]
fn atomic_accesses_race_with_plain_ones_only() {
    for mut detector in detectors(ScFences::Local) {
        let detector = detector.as_mut();
        atomic(detector, T0, FLAG, store(WriteOrd::Relaxed));
        atomic(detector, T1, FLAG, store(WriteOrd::Relaxed));
        assert!(detector.race(T1, FLAG, AccessKind::PlainRead).is_some());
        detector.forget(FLAG, 0);
        assert_eq!(detector.race(T1, FLAG, AccessKind::PlainRead), None);
        detector.apply(T0, FLAG, Effect::Read(ReadOrd::Relaxed));
        assert_eq!(detector.race(T0, FLAG, AccessKind::AtomicRead), None);
        assert!(detector.race(T1, FLAG, AccessKind::PlainWrite).is_some());
    }
}

/// A plain write to an atomic location ends the release sequence.
#[test]
fn a_plain_write_carries_no_message() {
    for mut detector in detectors(ScFences::Local) {
        let detector = detector.as_mut();
        assert_eq!(detector.race(T0, DATA, AccessKind::PlainWrite), None);
        atomic(detector, T0, FLAG, store(WriteOrd::Release));
        detector.plain_write(T0, FLAG, 2);
        assert_eq!(detector.race(T0, FLAG, AccessKind::PlainWrite), None);
        detector.apply(T1, FLAG, Effect::Read(ReadOrd::Acquire));
        assert!(detector.race(T1, FLAG, AccessKind::AtomicRead).is_some());
        assert!(detector.race(T1, DATA, AccessKind::PlainRead).is_some());
    }
}

/// `data = 1; F; r = flag || flag = 1; F; data = 2`, all relaxed: from-read orders the fences, but only RC20's
/// synchronise.
#[test]
fn sc_fences_synchronise_in_rc20_only() {
    for sc_fences in [ScFences::Local, ScFences::Synchronise] {
        for mut detector in detectors(sc_fences) {
            let detector = detector.as_mut();
            assert_eq!(detector.race(T0, DATA, AccessKind::PlainWrite), None);
            detector.fence(T0, FenceOrd::SeqCst);
            atomic(detector, T0, FLAG, Effect::Read(ReadOrd::Relaxed));
            atomic(detector, T1, FLAG, store(WriteOrd::Relaxed));
            detector.fence(T1, FenceOrd::SeqCst);
            let race = detector.race(T1, DATA, AccessKind::PlainWrite);
            assert_eq!(race.is_some(), sc_fences == ScFences::Local);
        }
    }
}
