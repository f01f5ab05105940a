//! Accesses that wait for a value, by `rsan.h`: to the monitor each is one access, which is checked on arrival and
//! happens when the value is there.

use super::{Running, Word, operate, read_order, rmw_order};
use crate::location::{Location, Locked, Operation};
use crate::model;
use crate::race;
use crate::sched;
use crate::thread::enter;
use rsan_clocks::{Access, Effect};
use rsan_model::{RmwOrd, WriteOrd};
use rsan_schedule::Kind;
use std::ffi::c_int;

/// Lets others go on, who may bring the value.
fn give_way<W: Word>(at: *mut W) {
    if sched::active() {
        return sched::atomics::wait_for(at as usize, size_of::<W>());
    }
    crate::system::give_way();
}

/// Tells the schedule, if it is ours, what came of an attempt.
fn tried<W: Word>(found: W, expected: W, wrote: Option<W>) {
    if sched::active() {
        sched::atomics::after_wait(found.bits(), expected.bits(), wrote.map(W::bits));
    }
}

impl Running<'_> {
    /// Asks the monitor about an access that takes only these values. The monitor compares numbers, which two values
    /// may share.
    fn check_values(
        &mut self,
        location: &Location,
        access: &Access<'_>,
        takes: impl Fn(u128) -> bool,
    ) {
        self.check(location, access);
        if let Some(suspicion) = &mut self.suspicion {
            let right = |side: Option<u128>| side.is_some_and(&takes);
            suspicion
                .candidates
                .retain(|candidate| right(candidate.side.value));
        }
    }
}

/// Waits until a word has one of some values, and returns it.
///
/// # Safety
/// `at` is valid and aligned.
pub unsafe fn wait<W: Word>(at: *mut W, values: &[W], order: c_int) -> W {
    let numbers: Vec<_> = values
        .iter()
        .map(|value| Location::compared(value.bits()))
        .collect();
    let ord = read_order(order);
    let name = (Operation::Wait, RmwOrd::from_halves(ord, WriteOrd::Relaxed));
    let mut arrives = true;
    // To a schedule, waiting for one of several values is reading.
    let kind = if values.len() == 1 {
        Kind::Wait
    } else {
        Kind::Load
    };
    sched::point(kind, at as usize, size_of::<W>());
    loop {
        // SAFETY: the caller's promise.
        let raw = || unsafe { W::load(at) };
        if arrives || values.contains(&raw()) {
            let found = enter().and_then(|mut me| {
                model::accept(&mut me, ord.is_sc(), name.0);
                let locked = Locked::for_access(at as usize, size_of::<W>());
                operate(&mut me, at, locked, name, |op, location| {
                    let access = Access::Wait {
                        values: &numbers,
                        ord,
                    };
                    if arrives {
                        op.check_values(location, &access, |bits| {
                            values.contains(&W::from_bits(bits))
                        });
                    }
                    let found = raw();
                    if values.contains(&found) {
                        op.read(location, ord);
                    }
                    (found, race::Kind::ATOMIC_READ)
                })
            });
            let found = found.map_or_else(raw, |found| found.value);
            tried(found, values[0], None);
            if values.contains(&found) {
                return found;
            }
            arrives = false;
        } else {
            tried(raw(), values[0], None);
        }
        give_way(at);
    }
}

/// Waits until a word has a value, and replaces it in the same step.
///
/// # Safety
/// `at` is valid and aligned.
pub unsafe fn compare_exchange<W: Word>(at: *mut W, expected: W, new: W, order: c_int) {
    let ord = rmw_order(order);
    let name = (Operation::BlockingCompareExchange, ord);
    let mut arrives = true;
    sched::point(Kind::WaitUpdate, at as usize, size_of::<W>());
    loop {
        // SAFETY: the caller's promise.
        let raw = || unsafe { W::compare_exchange(at, expected, new) };
        // SAFETY: the caller's promise.
        if arrives || unsafe { W::load(at) } == expected {
            let found = enter().and_then(|mut me| {
                model::accept(&mut me, ord.is_sc(), name.0);
                let locked = Locked::for_access(at as usize, size_of::<W>());
                operate(&mut me, at, locked, name, |op, location| {
                    let access = Access::Bcas {
                        expected: Location::compared(expected.bits()),
                        ord,
                    };
                    if arrives {
                        op.check_values(location, &access, |bits| bits == expected.bits());
                    }
                    let found = raw();
                    if found != expected {
                        return (found, race::Kind::ATOMIC_READ);
                    }
                    let effect = |value| Effect::Rmw { value, ord };
                    op.write(location, new.bits(), ord.releases(), effect);
                    (found, race::Kind::ATOMIC_WRITE)
                })
            });
            let found = found.map_or_else(raw, |found| found.value);
            tried(found, expected, (found == expected).then_some(new));
            if found == expected {
                return;
            }
            arrives = false;
        } else {
            // SAFETY: the caller's promise.
            tried(unsafe { W::load(at) }, expected, None);
        }
        give_way(at);
    }
}
