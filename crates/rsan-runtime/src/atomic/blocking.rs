//! Accesses that wait for a value, by `rsan.h`: to the monitor each is one access, which is checked on arrival and
//! happens when the value is there.

use super::{Running, Word, operate, read_order, rmw_order};
use crate::location::{Location, Locked, Operation};
use crate::model;
use crate::race::Kind;
use crate::thread::enter;
use rsan_clocks::{Access, Effect};
use rsan_model::{RmwOrd, WriteOrd};
use std::ffi::c_int;

/// Lets others go on, who may bring the value.
fn give_way() {
    // SAFETY: no arguments.
    unsafe { libc::sched_yield() };
}

impl Running<'_> {
    /// Asks the monitor about an access that takes only this value. The monitor compares numbers, which two values
    /// may share.
    fn check_value(&mut self, location: &Location, access: &Access<'_>, value: u128) {
        self.check(location, access);
        if let Some(suspicion) = &mut self.suspicion {
            let right = |side: Option<u128>| side == Some(value);
            suspicion
                .candidates
                .retain(|candidate| right(candidate.side.value));
        }
    }
}

/// Waits until a word has a value.
///
/// # Safety
/// `at` is valid and aligned.
pub unsafe fn wait<W: Word>(at: *mut W, value: W, order: c_int) {
    let ord = read_order(order);
    let name = (Operation::Wait, RmwOrd::from_halves(ord, WriteOrd::Relaxed));
    let mut arrives = true;
    loop {
        // SAFETY: the caller's promise.
        let raw = || unsafe { W::load(at) };
        if arrives || raw() == value {
            let found = enter().and_then(|mut me| {
                model::accept(&mut me, ord.is_sc(), name.0);
                let locked = Locked::for_access(at as usize, size_of::<W>());
                operate(&mut me, at, locked, name, |op, location| {
                    let values = [Location::compared(value.bits())];
                    let access = Access::Wait {
                        values: &values,
                        ord,
                    };
                    if arrives {
                        op.check_value(location, &access, value.bits());
                    }
                    let found = raw();
                    if found == value {
                        op.read(location, ord);
                    }
                    (found, Kind::ATOMIC_READ)
                })
            });
            if found.map_or_else(raw, |found| found.value) == value {
                return;
            }
            arrives = false;
        }
        give_way();
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
                        op.check_value(location, &access, expected.bits());
                    }
                    let found = raw();
                    if found != expected {
                        return (found, Kind::ATOMIC_READ);
                    }
                    let effect = |value| Effect::Rmw { value, ord };
                    op.write(location, new.bits(), ord.releases(), effect);
                    (found, Kind::ATOMIC_WRITE)
                })
            });
            if found.map_or_else(raw, |found| found.value) == expected {
                return;
            }
            arrives = false;
        }
        give_way();
    }
}
