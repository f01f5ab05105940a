//! The program's atomic operations, when they are scheduled.

use super::{CasOrders, Word, fence_order, read_order, rmw_order, write_order};
use crate::location::Operation;
use crate::model;
use crate::sched::atomics::{Orders, before_read, before_store, fails_for_no_reason};
use crate::sched::weak::{self, is_active};
use crate::sched::{done, point, stacks};
use crate::word::{fold, operands_of};
use rsan_model::CasStrength;
use rsan_schedule::Kind;
use std::ffi::c_int;

/// # Safety
/// As [`super::load`].
#[cold]
pub(crate) unsafe fn load<W: Word>(at: *mut W, order: c_int) -> W {
    let orders = Orders {
        all: order as u64,
        read: read_order(order),
    };
    before_read(Kind::Load, (at as usize, size_of::<W>()), [0; 2], orders);
    stacks::check_load(at as usize, size_of::<W>());
    // SAFETY: the caller's promise.
    let value = unsafe {
        match is_active() {
            true => super::weak::load(at, order),
            false => super::load(at, order),
        }
    };
    done(|step| step.read = fold(value.bits()));
    value
}

/// # Safety
/// As [`super::store`].
#[cold]
pub(crate) unsafe fn store<W: Word>(at: *mut W, value: W, order: c_int) {
    let releases = write_order(order).releases();
    weak::announce(releases);
    before_store(at as usize, size_of::<W>(), releases);
    // SAFETY: the caller's promise; nobody else runs.
    let old = unsafe { W::load(at) };
    // SAFETY: the caller's promise.
    unsafe {
        match is_active() {
            true => super::weak::store(at, value, order),
            false => super::store(at, value, order),
        }
    }
    done(|step| {
        (step.read, step.wrote) = (fold(old.bits()), fold(value.bits()));
        step.writes = true;
    });
}

/// # Safety
/// As [`super::rmw`].
#[cold]
pub(crate) unsafe fn rmw<W: Word>(
    at: *mut W,
    order: c_int,
    name: Operation,
    next: impl Fn(W) -> W,
) -> W {
    // What it makes of two values tells its operand.
    let operands = operands_of(|bits| next(W::from_bits(bits)).bits());
    weak::announce(rmw_order(order).write().releases());
    let orders = Orders {
        all: order as u64,
        read: read_order(order),
    };
    before_read(
        Kind::Update,
        (at as usize, size_of::<W>()),
        operands,
        orders,
    );
    // SAFETY: the caller's promise.
    let old = unsafe {
        match is_active() {
            true => super::weak::rmw(at, order, name, &next),
            false => super::rmw(at, order, name, &next),
        }
    };
    done(|step| {
        (step.read, step.wrote) = (fold(old.bits()), fold(next(old).bits()));
        step.writes = true;
    });
    old
}

/// # Safety
/// As [`super::compare_exchange`].
#[cold]
pub(crate) unsafe fn compare_exchange<W: Word>(
    at: *mut W,
    expected: W,
    new: W,
    orders: CasOrders,
    strength: CasStrength,
) -> (W, bool) {
    let operands = [expected, new].map(|word| fold(word.bits()));
    weak::announce(rmw_order(orders.success).write().releases());
    let all = Orders {
        all: orders.success as u64 | (orders.failure as u64) << 32 | (strength as u64) << 63,
        read: read_order(orders.failure),
    };
    before_read(Kind::Compare, (at as usize, size_of::<W>()), operands, all);
    // SAFETY: the caller's promise.
    let (old, succeeded) = unsafe {
        match is_active() {
            true => super::weak::compare_exchange(at, expected, new, orders, strength),
            false
                if strength == CasStrength::Weak
                    && fails_for_no_reason(W::load(at) == expected) =>
            {
                super::compare_and_fail(at, expected, new, orders)
            }
            false => super::compare_exchange(at, expected, new, orders, strength),
        }
    };
    done(|step| {
        (step.read, step.expected) = (fold(old.bits()), fold(expected.bits()));
        (step.writes, step.wrote) = (succeeded, fold(new.bits()));
    });
    (old, succeeded)
}

/// A fence between threads.
#[cold]
pub(crate) fn thread_fence(order: c_int) {
    match fence_order(order).and_then(model::meeting_place) {
        Some(place) => point(Kind::Sync, place, 0),
        None => point(Kind::Fence, 0, 0),
    }
    match fence_order(order).filter(|_| is_active()) {
        Some(ord) => {
            weak::fence(ord);
            done(|_| ());
        }
        None => super::thread_fence(order),
    }
}
