//! Accesses that a granule has no cell for, if nothing may be forgotten
//! ([`Options::exact`](crate::options::Options::exact)).
//!
//! **Decides**, together with the cells, whether an access races with *any* earlier plain access of its granule. What a
//! cell gives up is kept ([`crate::shadow`]), until an access stands for it: one that it happens before, of all its bytes and of its kind or a
//! stronger one. Whatever races with the old access and comes later races with the new one, too (happens-before is
//! transitive), so at every time the cells and what is kept are as good as a list of all accesses.
//!
//! **Cost**: nothing unless it is asked for. Then a look-up for each access that is not in the cells, once some cell was given
//! up. A granule keeps at most one access for each thread, kind, and set of bytes.

use super::cells::{Access, Past, Race};
use crate::shadow::{Granule, with_kept};

impl Access {
    /// What is kept of a granule and races with this access.
    #[inline]
    pub(super) fn race_with_kept(self, past: Past, granule: Granule) -> Option<Race> {
        with_kept(granule, |kept| {
            let mut of_granule = kept.iter().copied();
            of_granule.find(|(cell, _)| self.races_with(past, *cell))
        })?
    }

    /// The same for an access that has its cell now. What it stands for is kept no longer.
    #[inline]
    pub(super) fn take_over_kept(self, past: Past, granule: Granule) -> Option<Race> {
        let race = self.race_with_kept(past, granule);
        with_kept(granule, |kept| {
            kept.retain(|(cell, _)| !self.stands_for(past, *cell));
        });
        race
    }
}

#[cfg(test)]
mod tests;
