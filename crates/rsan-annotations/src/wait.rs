//! Waits for a value.

use crate::Atomic;
use core::sync::atomic::Ordering;

/// Waits until the atomic has the value, by loads of that order. To rsan it is one read of that value.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let turn = AtomicU32::new(0);
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         rsan::wait(&turn, 1, Ordering::Acquire);
///         turn.store(2, Ordering::Release);
///     });
///     turn.store(1, Ordering::Release);
///     rsan::wait(&turn, 2, Ordering::Acquire);
/// });
/// ```
///
/// # Panics
/// If the order is `Release` or `AcqRel`: no load has these.
#[inline]
#[track_caller]
pub fn wait<A: Atomic>(object: &A, value: A::Value, order: Ordering) {
    wait_any(object, [value], order);
}

/// Waits until the atomic has one of the values, by loads of that order, and returns the one that came. To rsan it is one read of
/// that value.
///
/// ```
/// use std::sync::atomic::{AtomicU8, Ordering};
///
/// const DONE: u8 = 1;
/// const FAILED: u8 = 2;
/// let state = AtomicU8::new(FAILED);
/// assert_eq!(rsan::wait_any(&state, [DONE, FAILED], Ordering::Acquire), FAILED);
/// ```
///
/// At least one value is needed; this does not compile:
///
/// ```compile_fail
/// let flag = std::sync::atomic::AtomicBool::new(false);
/// rsan::wait_any(&flag, [], std::sync::atomic::Ordering::Acquire);
/// ```
///
/// # Panics
/// If the order is `Release` or `AcqRel`: no load has these.
#[inline]
#[track_caller]
pub fn wait_any<A: Atomic, const N: usize>(
    object: &A,
    values: [A::Value; N],
    order: Ordering,
) -> A::Value {
    const { assert!(N > 0, "a wait for no value never ends") };
    #[cfg(rsan)]
    return crate::library::wait_any(object, values, order);
    #[cfg(not(rsan))]
    loop {
        let seen = object.read(order);
        if let Some(value) = values.into_iter().find(|value| A::same(*value, seen)) {
            return value;
        }
        core::hint::spin_loop();
    }
}

/// Waits until the atomic has the expected value, and replaces it by the desired one in the same step, which has that order: a
/// compare-and-swap that blocks. What is there before is of no account.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let locked = AtomicBool::new(false);
/// rsan::bcas(&locked, false, true, Ordering::Acquire);
/// assert!(locked.load(Ordering::Relaxed));
/// ```
#[inline]
pub fn bcas<A: Atomic>(object: &A, expected: A::Value, desired: A::Value, order: Ordering) {
    #[cfg(rsan)]
    crate::library::bcas(object, expected, desired, order);
    #[cfg(not(rsan))]
    while !object.replace(expected, desired, order) {
        core::hint::spin_loop();
    }
}
