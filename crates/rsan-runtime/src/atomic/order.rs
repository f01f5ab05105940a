//! The orders that compilers hand over, as numbers.

use rsan_model::{FenceOrd, ReadOrd, RmwOrd, WriteOrd};
use std::ffi::c_int;

/// The order of a load. The bits above the C11 orders are hints for the processor.
pub fn read_order(order: c_int) -> ReadOrd {
    match order & 0x7fff {
        1 | 2 | 4 => ReadOrd::Acquire,
        5 => ReadOrd::SeqCst,
        _ => ReadOrd::Relaxed,
    }
}

/// The order of a store.
pub fn write_order(order: c_int) -> WriteOrd {
    match order & 0x7fff {
        3 | 4 => WriteOrd::Release,
        5 => WriteOrd::SeqCst,
        _ => WriteOrd::Relaxed,
    }
}

/// The order of a read-modify-write.
pub fn rmw_order(order: c_int) -> RmwOrd {
    RmwOrd::from_halves(read_order(order), write_order(order))
}

/// The order of a fence, if it is one.
pub fn fence_order(order: c_int) -> Option<FenceOrd> {
    match order & 0x7fff {
        1 | 2 => Some(FenceOrd::Acquire),
        3 => Some(FenceOrd::Release),
        4 => Some(FenceOrd::AcqRel),
        5 => Some(FenceOrd::SeqCst),
        _ => None,
    }
}
