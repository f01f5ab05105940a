//! Accesses that wait for a value, by `rsan.h`: to the monitor each is one access, which is checked on arrival and
//! happens when the value is there.

use super::{Running, Word, operate, read_order, rmw_order, weak};
use crate::location::{Intent, Location, Locked, Operation, WriteSite};
use crate::model;
use crate::race;
use crate::sched::weak::is_active;
use crate::sched::{self, Values};
use crate::thread::enter;
use rsan_clocks::{Access, Effect};

use rsan_schedule::Kind;
use std::ffi::c_int;

/// Lets others go on, who may bring the value.
fn give_way<W: Word>(at: *mut W) {
    if sched::active() {
        return sched::atomics::wait_for_change(at as usize, size_of::<W>());
    }
    crate::system::give_way();
}

/// Tells the schedule, if it is ours, what came of an attempt.
fn tried<W: Word>(found: W, expected: W, wrote: Option<W>) {
    if sched::active() {
        sched::atomics::after_wait(found.bits(), expected.bits(), wrote.map(W::bits));
    }
}

/// What an attempt does: it is checked when the thread arrives, and happens when it can. Under controlled scheduling, these
/// are two attempts, for others may go on in between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Attempt {
    checks: bool,
    happens: bool,
}

/// Attempts until one succeeds. `succeeds` says so of what an attempt found.
fn attempt_until<W: Word>(
    at: *mut W,
    kind: Kind,
    values: &[W],
    succeeds: impl Fn(W) -> bool,
    attempt: impl Fn(Attempt) -> W,
) -> W {
    let scheduled = sched::active();
    if scheduled {
        attempt(Attempt {
            checks: true,
            happens: false,
        });
        let values = Values::new(values.iter().map(|value| value.bits() as u64));
        sched::atomics::wait_for(kind, at as usize, size_of::<W>(), values);
    }
    let mut checks = !scheduled;
    loop {
        // SAFETY: the caller's word, which is valid and aligned.
        if checks || scheduled || succeeds(unsafe { W::load(at) }) {
            let happens = true;
            let found = attempt(Attempt { checks, happens });
            if succeeds(found) {
                return found;
            }
            checks = false;
        }
        give_way(at);
    }
}

impl Running<'_> {
    /// Asks the monitor about an access that takes only these values. The monitor compares numbers, which two values
    /// may share.
    fn check_values(&mut self, location: &Location, access: &Access<'_>, compared: &[u128]) {
        self.doubt(location, compared);
        self.check(location, access);
        if let Some(suspicion) = &mut self.suspicion {
            let right = |side: Option<u128>| side.is_some_and(|bits| compared.contains(&bits));
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
    let compared: Vec<_> = values.iter().map(|value| value.bits()).collect();
    let numbers: Vec<_> = compared
        .iter()
        .map(|bits| Location::compared(*bits))
        .collect();
    let ord = read_order(order);
    let kind = match values {
        [_] => Kind::Wait,
        _ => Kind::WaitAny,
    };
    let attempt = |Attempt { checks, happens }| {
        // SAFETY: the caller's promise.
        let raw = || unsafe { W::load(at) };
        if is_active() {
            if !happens {
                return raw();
            }
            // SAFETY: the caller's promise.
            let found = unsafe { weak::try_wait(at, values, ord) };
            tried(found, values[0], None);
            return found;
        }
        let found = enter().and_then(|mut me| {
            let access = WriteSite::new(me.leaf(), Operation::Wait, ord.into());
            model::accept(&mut me, ord.is_sc(), access.operation);
            let locked = Locked::for_access(at as usize, size_of::<W>(), Intent::Access);
            operate(&mut me, at, locked, access, |op, location| {
                let access = Access::Wait {
                    values: &numbers,
                    ord,
                };
                if checks {
                    op.check_values(location, &access, &compared);
                }
                let found = raw();
                if happens && values.contains(&found) {
                    op.read(location, ord);
                }
                (found, race::Kind::ATOMIC_READ)
            })
        });
        let found = found.map_or_else(raw, |found| found.value);
        if happens {
            tried(found, values[0], None);
        }
        found
    };
    attempt_until(at, kind, values, |found| values.contains(&found), attempt)
}

/// Waits until a word has a value, and replaces it in the same step.
///
/// # Safety
/// `at` is valid and aligned.
pub unsafe fn compare_exchange<W: Word>(at: *mut W, expected: W, new: W, order: c_int) {
    let ord = rmw_order(order);
    let attempt = |Attempt { checks, happens }| {
        // SAFETY: the caller's promise.
        let raw = || unsafe {
            match happens {
                true => W::compare_exchange(at, expected, new),
                false => W::load(at),
            }
        };
        if is_active() {
            if !happens {
                return raw();
            }
            // SAFETY: the caller's promise.
            let found = unsafe { weak::try_replace(at, expected, new, ord) };
            tried(found, expected, (found == expected).then_some(new));
            return found;
        }
        let found = enter().and_then(|mut me| {
            let name = Operation::BlockingCompareExchange;
            let access = WriteSite::new(me.leaf(), name, ord);
            model::accept(&mut me, ord.is_sc(), access.operation);
            let locked = Locked::for_access(at as usize, size_of::<W>(), Intent::Access);
            operate(&mut me, at, locked, access, |op, location| {
                let access = Access::Bcas {
                    expected: Location::compared(expected.bits()),
                    ord,
                };
                if checks {
                    op.check_values(location, &access, &[expected.bits()]);
                }
                let found = raw();
                if !happens || found != expected {
                    return (found, race::Kind::ATOMIC_READ);
                }
                let effect = |value| Effect::Rmw { value, ord };
                op.write(location, new.bits(), ord.releases(), effect);
                (found, race::Kind::ATOMIC_WRITE)
            })
        });
        let found = found.map_or_else(raw, |found| found.value);
        if happens {
            tried(found, expected, (found == expected).then_some(new));
        }
        found
    };
    let succeeds = |found| found == expected;
    attempt_until(at, Kind::WaitUpdate, &[expected], succeeds, attempt);
}
