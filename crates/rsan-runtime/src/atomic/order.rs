//! The orders that compilers hand over, as numbers.

use rsan_model::{FenceOrd, ReadOrd, RmwOrd, WriteOrd};
use std::ffi::c_int;

/// The C11 order among the bits that compilers hand over; those above it are hints for the processor.
#[inline]
fn c11(order: c_int) -> usize {
    (order & 7) as usize
}

/// The order of a load.
#[inline]
pub fn read_order(order: c_int) -> ReadOrd {
    use ReadOrd::{Acquire, Relaxed, SeqCst};
    [
        Relaxed, Acquire, Acquire, Relaxed, Acquire, SeqCst, Relaxed, Relaxed,
    ][c11(order)]
}

/// The order of a store.
#[inline]
pub fn write_order(order: c_int) -> WriteOrd {
    use WriteOrd::{Relaxed, Release, SeqCst};
    [
        Relaxed, Relaxed, Relaxed, Release, Release, SeqCst, Relaxed, Relaxed,
    ][c11(order)]
}

/// The order of a read-modify-write.
#[inline]
pub fn rmw_order(order: c_int) -> RmwOrd {
    RmwOrd::from_halves(read_order(order), write_order(order))
}

/// The order of a fence, if it is one.
#[inline]
pub fn fence_order(order: c_int) -> Option<FenceOrd> {
    use FenceOrd::{AcqRel, Acquire, Release, SeqCst};
    let orders = [Acquire, Acquire, Release, AcqRel, SeqCst];
    orders.get(c11(order).wrapping_sub(1)).copied()
}
