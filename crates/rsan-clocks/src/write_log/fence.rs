//! Fences. Those of C20 are thread-local (docs/theory/write-log.md, W8); RC20's SC fences meet at a reserved location
//! (docs/theory/write-log.md, W16).
//!
//! ```text
//! acquire   hb, access, fence, eco += pending; pending := nothing
//! release   a new epoch; released := hb, access, fence, eco
//! seq_cst   acquire; a new epoch; access += eco, and its fences += hb; fence := access; release
//! ```
//!
//! What is left out (docs/theory/shortcuts.md, Q10 and Q12):
//!
//! * `eco` is only used together with `access` and `hb`, which go wherever it goes. So it is empty after a seq_cst fence,
//!   and what they include is not added to it.
//! * A seq_cst fence that its thread repeats, with the same [`super::Version`] and nothing pending, changes the thread's own
//!   entries only. It also needs no new epoch, unless the present one is known to others (who would seem to know the
//!   fence) or is that of a seq_cst access (whose location would seem to show the fence).

use super::epoch::{Epoch, VectorClock};
use super::rules::Rules;
use super::thread::ThreadState;
use super::view::ScView;
use crate::mutation::Mutant;
use rsan_model::FenceOrd;

/// RC20's reserved location, which every SC fence reads and writes. It is never checked, so it has no log.
#[derive(Clone, Debug, Default)]
pub struct ReservedLocation {
    message: VectorClock,
    access_past: VectorClock,
}

impl ThreadState {
    /// A fence that is not seq_cst.
    fn acquire_release(&mut self, ord: FenceOrd, rules: Rules) {
        if ord.acquires() {
            self.acquire(rules);
        }
        if ord.releases() {
            self.bump();
            self.release(rules);
            self.note_release(rules);
        }
    }

    /// A fence of C20.
    #[inline]
    pub fn fence_c20(&mut self, ord: FenceOrd, rules: Rules) {
        if !ord.is_sc() {
            self.acquire_release(ord, rules);
        } else if self.repeats_fence(rules) {
            self.repeat_fence(rules);
        } else {
            self.sc_fence_in_full(rules);
        }
    }

    /// Whether nothing was learnt since the last seq_cst fence, so that another one only changes the thread's own entries.
    #[inline]
    fn repeats_fence(&self, rules: Rules) -> bool {
        let learns = self.has_pending && !rules.breaks(Mutant::FenceRepeatedDespitePending);
        !learns && rules.is_at(self, self.fenced, Mutant::FenceRepeatedDespiteLearning)
    }

    /// What [`ThreadState::sc_fence_in_full`] comes to for a repeated fence. It needs no epoch of its own unless somebody
    /// may have the present one without this fence.
    #[inline]
    fn repeat_fence(&mut self, rules: Rules) {
        let slot = self.slot;
        let last_access = self.view.sc.access.accesses.get(slot);
        let published = self.dirty && !rules.breaks(Mutant::FenceRepeatedInPublishedEpoch);
        let carried =
            last_access == self.epoch && !rules.breaks(Mutant::FenceRepeatedInEpochOfAccess);
        if published || carried {
            self.bump();
        }
        let epoch = self.epoch;
        for set in [
            &mut self.view.sc.access,
            &mut self.view.sc.fence,
            &mut self.released.sc.access,
            &mut self.released.sc.fence,
        ] {
            set.fences.set(slot, epoch);
            if last_access != Epoch::START {
                set.accesses.set(slot, last_access);
            }
        }
        self.released.hb.set(slot, epoch);
        self.released_at = epoch;
        self.fence_version = self.fence_version.next();
        self.dirty = true;
    }

    #[inline(never)]
    fn sc_fence_in_full(&mut self, rules: Rules) {
        if !rules.breaks(Mutant::SaturatedScFence) {
            self.desaturate(rules);
        }
        self.acquire(rules);
        if !rules.breaks(Mutant::ScFenceWithoutBump) {
            self.bump();
        }
        let releases_earlier = rules.breaks(Mutant::ScFenceReleasesEarlierSc);
        let earlier = releases_earlier.then(|| self.view.sc.access.clone());
        let sc = &mut self.view.sc;
        if !rules.breaks(Mutant::ScFenceWithoutEco) {
            sc.access.join(&sc.eco);
        }
        if !rules.breaks(Mutant::ScFenceWithoutPast) {
            sc.access.fences.join(&self.view.hb);
        }
        if !rules.breaks(Mutant::ScFenceBindsNothing) {
            sc.fence.assign(&sc.access);
        }
        if rules.fast_paths {
            sc.eco.clear();
        }
        self.has_fences = true;
        self.release(rules);
        if let Some(earlier) = earlier {
            self.released.sc.access = earlier;
        }
        if rules.breaks(Mutant::ScFenceReleasesNoFence) {
            self.released.sc.fence.clear();
        }
        self.fence_version = self.fence_version.next();
        self.note_release(rules);
        self.fenced = self.version;
    }

    /// A fence of RC20. `reserved` is shared by all threads, under its own lock. As long as no access is seq_cst, the
    /// rules for accesses may be those of C20.
    pub fn fence_rc20(&mut self, ord: FenceOrd, reserved: &mut ReservedLocation, rules: Rules) {
        if !ord.is_sc() {
            self.acquire_release(ord, rules);
            return;
        }
        self.acquire(rules);
        self.learn_hb(&reserved.message);
        self.learn_past(&reserved.access_past);
        self.bump();
        reserved.message.assign(&self.view.hb);
        reserved.access_past.assign(&self.sc_past);
        self.release(rules);
        self.note_release(rules);
    }

    /// The acquire part: messages that were only read so far are now known.
    fn acquire(&mut self, rules: Rules) {
        if !self.has_pending {
            return;
        }
        self.has_pending = false;
        let mut pending = std::mem::take(&mut self.pending);
        self.learn_hb(&pending.hb);
        self.learn_access(&pending.sc.access);
        self.learn_fence(&pending.sc.fence);
        self.learn_eco(&pending.sc.eco, rules);
        pending.clear();
        self.pending = pending;
    }

    /// After a release fence, or one that includes it.
    fn note_release(&mut self, rules: Rules) {
        let ScView { access, fence, .. } = &self.released.sc;
        self.released_alike = fence.covers(access) || rules.breaks(Mutant::ReleasedTakenForAlike);
    }

    /// The release part: later relaxed writes publish what is known now.
    fn release(&mut self, rules: Rules) {
        self.released.hb.assign(&self.view.hb);
        self.released.sc.assign(&self.view.sc);
        if self.saturated && self.has_sc && !rules.breaks(Mutant::SaturatedReleaseFence) {
            self.released.sc.access.accesses.assign(&self.sc_past);
        }
        self.released_at = self.epoch;
        self.renew_version();
        self.dirty = true;
    }
}
