//! The program's atomic operations in a weak run ([`crate::sched::weak`]): the engine says what they read. The location is told, too, so
//! that plain accesses that race with them are found; its monitor learns nothing from it, as everything counts as relaxed there.

use super::{CasOrders, Found, Running, Word, operate, read_order, rmw_order, write_order};
use crate::location::{Intent, Location, Locked, Operation, WriteSite};
use crate::race::Kind;
use crate::sched::weak::{self, Compare, Compared, Place};
use crate::thread::enter_access;
use crate::tls;
use rsan_clocks::Effect;
use rsan_model::{CasStrength, ReadOrd, RmwOrd, WriteOrd};
use std::ffi::c_int;

fn place<W: Word>(at: *mut W) -> Place {
    Place {
        address: at as usize,
        bytes: size_of::<W>(),
    }
}

/// Tells the location of an access, and looks for races.
fn note<W: Word>(
    at: *mut W,
    operation: Operation,
    order: RmwOrd,
    act: impl FnOnce(&mut Running<'_>, &mut Location) -> (W, Kind),
) -> Option<Found<W>> {
    let caller = tls::caller();
    let mut me = enter_access()?;
    let site = WriteSite::new(me.leaf(), operation, order);
    let locked = Locked::for_access(at as usize, size_of::<W>(), Intent::Access);
    let found = operate(&mut me, at, locked, site, act);
    drop(me);
    // The runtime may have copied memory of its own meanwhile.
    tls::set_caller(caller);
    found
}

fn note_read<W: Word>(at: *mut W, value: W, order: ReadOrd) {
    note(at, Operation::Load, order.into(), |op, location| {
        op.read(location, ReadOrd::Relaxed);
        (value, Kind::ATOMIC_READ)
    });
}

/// The write is made, too.
///
/// # Safety
/// `at` is valid and aligned.
unsafe fn note_write<W: Word>(at: *mut W, value: W, operation: Operation, order: RmwOrd) {
    // SAFETY: the caller's promise.
    let raw = || unsafe { W::store(at, value) };
    let effect = |value| match operation {
        Operation::Store => Effect::Write {
            value,
            ord: WriteOrd::Relaxed,
        },
        _ => Effect::Rmw {
            value,
            ord: RmwOrd::Relaxed,
        },
    };
    let noted = note(at, operation, order, |op, location| {
        raw();
        op.write(location, value.bits(), false, effect);
        (value, Kind::ATOMIC_WRITE)
    });
    if noted.is_none() {
        raw();
    }
}

/// # Safety
/// As [`super::load`].
pub(super) unsafe fn load<W: Word>(at: *mut W, order: c_int) -> W {
    let ord = read_order(order);
    // SAFETY: the caller's promise.
    let raw = || unsafe { W::load(at) };
    let found = weak::look(place(at), ord, || raw().bits());
    let value = found.map_or_else(raw, |found| W::from_bits(found.value));
    note_read(at, value, ord);
    if let Some(found) = found {
        weak::read(found, ord);
    }
    value
}

/// # Safety
/// As [`super::store`].
pub(super) unsafe fn store<W: Word>(at: *mut W, value: W, order: c_int) {
    let ord = write_order(order);
    // SAFETY: the caller's promise.
    let old = unsafe { W::load(at) };
    // SAFETY: the caller's promise.
    unsafe { note_write(at, value, Operation::Store, ord.into()) };
    weak::store(place(at), value.bits(), ord, old.bits());
}

/// # Safety
/// As [`super::rmw`].
pub(super) unsafe fn rmw<W: Word>(
    at: *mut W,
    order: c_int,
    name: Operation,
    next: impl Fn(W) -> W,
) -> W {
    let ord = rmw_order(order);
    // SAFETY: the caller's promise.
    let raw = || unsafe { W::load(at) };
    let found = weak::find(place(at), ord, || raw().bits());
    let old = found.map_or_else(raw, |found| W::from_bits(found.value));
    let new = next(old);
    // SAFETY: the caller's promise.
    unsafe { note_write(at, new, name, ord) };
    if let Some(found) = found {
        weak::update(found, new.bits(), ord);
    }
    old
}

/// # Safety
/// As [`super::compare_exchange`].
pub(super) unsafe fn compare_exchange<W: Word>(
    at: *mut W,
    expected: W,
    new: W,
    orders: CasOrders,
    strength: CasStrength,
) -> (W, bool) {
    let (success, failure) = (rmw_order(orders.success), read_order(orders.failure));
    // SAFETY: the caller's promise.
    let raw = || unsafe { W::load(at) };
    let compare = Compare {
        expected: expected.bits(),
        success,
        failure,
        strength,
    };
    let found = match weak::compare(place(at), compare, || raw().bits()) {
        Some(Compared::Fails(found)) => {
            let value = W::from_bits(found.value);
            note_read(at, value, failure);
            weak::read(found, failure);
            return (value, false);
        }
        Some(Compared::Succeeds(found)) => Some(found),
        None if raw() == expected => None,
        None => {
            let value = raw();
            note_read(at, value, failure);
            return (value, false);
        }
    };
    // SAFETY: the caller's promise.
    unsafe { note_write(at, new, Operation::CompareExchange, success) };
    if let Some(found) = found {
        weak::update(found, new.bits(), success);
    }
    (expected, true)
}

/// An attempt of [`super::blocking::wait`]; what was found.
///
/// # Safety
/// `at` is valid and aligned.
pub(super) unsafe fn try_wait<W: Word>(at: *mut W, values: &[W], ord: ReadOrd) -> W {
    // SAFETY: the caller's promise.
    let raw = || unsafe { W::load(at) };
    let is_wanted = |bits| values.contains(&W::from_bits(bits));
    let found = weak::load_one_of(place(at), ord, || raw().bits(), is_wanted);
    let found = found.map_or_else(raw, W::from_bits);
    if values.contains(&found) {
        note_read(at, found, ord);
    }
    found
}

/// An attempt of [`super::blocking::compare_exchange`]; what was found.
///
/// # Safety
/// `at` is valid and aligned.
pub(super) unsafe fn try_replace<W: Word>(at: *mut W, expected: W, new: W, ord: RmwOrd) -> W {
    // SAFETY: the caller's promise.
    let raw = || unsafe { W::load(at) };
    let found = weak::find_value(place(at), ord, || raw().bits(), expected.bits());
    let Some(found) = found else {
        return raw();
    };
    let name = Operation::BlockingCompareExchange;
    // SAFETY: the caller's promise.
    unsafe { note_write(at, new, name, ord) };
    weak::update(found, new.bits(), ord);
    expected
}
