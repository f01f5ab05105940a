//! The sanitizer's library: what `rsan.h` declares, and `cargo rsan` links.

use crate::Atomic;
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::Ordering;

// SAFETY: these are the declarations of `rsan.h`. Those that are safe take nothing, or an address that is only remembered.
unsafe extern "C" {
    safe fn __rsan_benign_begin();
    safe fn __rsan_benign_end();
    safe fn __rsan_benign_address(address: *const c_void, bytes: usize);
    safe fn __rsan_snapshot();
    fn __rsan_wait_any(
        address: *const c_void,
        bytes: usize,
        values: *const u64,
        count: usize,
        order: c_int,
    ) -> u64;
    fn __rsan_bcas(address: *const c_void, bytes: usize, expected: u64, desired: u64, order: c_int);
}

/// The number of an order in C.
fn number(order: Ordering) -> c_int {
    match order {
        Ordering::Relaxed => 0,
        Ordering::Acquire => 2,
        Ordering::Release => 3,
        Ordering::AcqRel => 4,
        Ordering::SeqCst => 5,
        _ => unreachable!("an order that C does not have"),
    }
}

/// Where an atomic is.
fn address<A: Atomic>(object: &A) -> *const c_void {
    ptr::from_ref(object).cast()
}

#[inline]
#[track_caller]
pub(crate) fn wait_any<A: Atomic, const N: usize>(
    object: &A,
    values: [A::Value; N],
    order: Ordering,
) -> A::Value {
    assert!(
        !matches!(order, Ordering::Release | Ordering::AcqRel),
        "there is no such thing as a release load"
    );
    let wanted = values.map(A::bits);
    let (at, bytes) = (address(object), size_of::<A>());
    // SAFETY: the address is that of an atomic, of 1, 2, 4 or 8 bytes, which may be read by atomic loads of that size; `wanted`
    // has `N` values. The order is one of a load.
    let seen = unsafe { __rsan_wait_any(at, bytes, wanted.as_ptr(), N, number(order)) };
    let came = wanted.iter().position(|value| *value == seen);
    values[came.expect("the library returns one of the values")]
}

#[inline]
pub(crate) fn bcas<A: Atomic>(object: &A, expected: A::Value, desired: A::Value, order: Ordering) {
    let [expected, desired] = [expected, desired].map(A::bits);
    // SAFETY: the address is that of an atomic, of 1, 2, 4 or 8 bytes, whose contents may change while it is borrowed; the desired
    // bits are those of a value of its type.
    unsafe {
        __rsan_bcas(
            address(object),
            size_of::<A>(),
            expected,
            desired,
            number(order),
        );
    }
}

#[inline]
pub(crate) fn benign_begin() {
    __rsan_benign_begin();
}

#[inline]
pub(crate) fn benign_end() {
    __rsan_benign_end();
}

#[inline]
pub(crate) fn benign_address<T: ?Sized>(object: &T) {
    __rsan_benign_address(ptr::from_ref(object).cast(), size_of_val(object));
}

#[inline]
pub(crate) fn snapshot() {
    __rsan_snapshot();
}
