//! Accesses that a granule has no cell for, if nothing may be forgotten; [`crate::race`] says which those are.
//!
//! **Invariant**: a granule without cells in use has nothing here. Cells are emptied when an access takes their place, or when the
//! memory is forgotten, and then this is forgotten with them.

use super::{Cells, Granule};
use crate::lock::{Lock, RawLock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cells and sites of the accesses of a granule.
pub(crate) type Kept = Vec<(u64, u32)>;

/// What is kept of granules, by the address of their cells.
static KEPT: Lock<BTreeMap<usize, Kept>> = Lock::new(BTreeMap::new());

/// Whether there ever was something to keep.
static USED: AtomicBool = AtomicBool::new(false);

/// The lock of this module, for fork. Taken under no lock of a location, and takes those of memory only.
pub(crate) fn lock() -> &'static RawLock {
    KEPT.raw()
}

#[inline]
fn is_used() -> bool {
    // ORDERING: relaxed; set under the schedule, where one thread runs at a time. Others keep nothing.
    USED.load(Ordering::Relaxed)
}

fn key(cells: &Cells) -> usize {
    std::ptr::from_ref(cells) as usize
}

/// Keeps the access of a cell that is given up.
#[cold]
pub(crate) fn keep(granule: Granule, cell: u64, site: u32) {
    let mut kept = KEPT.lock();
    let of_granule = kept.entry(key(granule.cells())).or_default();
    of_granule.push((cell, site));
    // ORDERING: relaxed; see `is_used`.
    USED.store(true, Ordering::Relaxed);
}

/// Forgets what is kept of granules with these cells, one after the other in memory.
#[inline]
pub(crate) fn forget(cells: &[Cells]) {
    if is_used()
        && let [first, .., last] | [first @ last] = cells
    {
        forget_between(key(first), key(last));
    }
}

#[cold]
fn forget_between(first: usize, last: usize) {
    let mut kept = KEPT.lock();
    let mut rest = kept.split_off(&first);
    kept.append(&mut rest.split_off(&(last + 1)));
}

/// What is kept of a granule, if there is anything. A list that is empty afterwards is given up.
#[inline]
pub(crate) fn with_kept<R>(granule: Granule, act: impl FnOnce(&mut Kept) -> R) -> Option<R> {
    is_used().then(|| look(granule, act))?
}

#[cold]
fn look<R>(granule: Granule, act: impl FnOnce(&mut Kept) -> R) -> Option<R> {
    let mut kept = KEPT.lock();
    let key = key(granule.cells());
    let of_granule = kept.get_mut(&key)?;
    let result = act(of_granule);
    if of_granule.is_empty() {
        kept.remove(&key);
    }
    Some(result)
}
