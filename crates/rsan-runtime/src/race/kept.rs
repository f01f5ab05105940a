//! Accesses that a granule has no cell for, if nothing may be forgotten
//! ([`Options::exact`](crate::options::Options::exact)).
//!
//! **Decides**, together with the cells, whether an access races with *any* earlier plain access of its granule. What a
//! cell gives up is kept here, until an access stands for it: one that it happens before, of all its bytes and of its kind or a
//! stronger one. Whatever races with the old access and comes later races with the new one, too (happens-before is
//! transitive), so at every time the cells and what is kept are as good as a list of all accesses.
//!
//! **Invariant**: a granule without cells in use has nothing here. Cells are emptied when an access takes their place, or when the
//! memory is forgotten, and then this is forgotten with them.
//!
//! **Cost**: nothing unless it is asked for. Then a look-up for each access that is not in the cells, once some cell was given
//! up. A granule keeps at most one access for each thread, kind, and set of bytes.

use super::cells::{Access, Past, Race};
use crate::lock::{Lock, RawLock};
use crate::shadow::{Cells, Granule};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is kept of granules, by the address of their cells.
static KEPT: Lock<BTreeMap<usize, Vec<Race>>> = Lock::new(BTreeMap::new());

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
pub(super) fn keep(granule: Granule, cell: u64, site: u32) {
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

impl Access {
    /// What is kept of a granule and races with this access.
    #[inline]
    pub(super) fn race_with_kept(self, past: Past, granule: Granule) -> Option<Race> {
        is_used().then(|| self.find_kept(past, granule))?
    }

    #[cold]
    fn find_kept(self, past: Past, granule: Granule) -> Option<Race> {
        let kept = KEPT.lock();
        let mut of_granule = kept.get(&key(granule.cells()))?.iter().copied();
        of_granule.find(|(cell, _)| self.races_with(past, *cell))
    }

    /// The same for an access that has its cell now. What it stands for is kept no longer.
    #[inline]
    pub(super) fn take_over_kept(self, past: Past, granule: Granule) -> Option<Race> {
        let race = self.race_with_kept(past, granule);
        if is_used() {
            self.drop_kept(past, granule);
        }
        race
    }

    #[cold]
    fn drop_kept(self, past: Past, granule: Granule) {
        let mut kept = KEPT.lock();
        let key = key(granule.cells());
        if let Some(of_granule) = kept.get_mut(&key) {
            of_granule.retain(|(cell, _)| !self.stands_for(past, *cell));
            if of_granule.is_empty() {
                kept.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests;
