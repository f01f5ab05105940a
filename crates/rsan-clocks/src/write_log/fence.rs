//! Fences. Those of C20 are thread-local; RC20's SC fences meet at a reserved location.

use super::epoch::VectorClock;
use super::rules::Rules;
use super::thread::ThreadState;
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
            self.acquire();
        }
        if ord.releases() {
            self.bump();
            self.release(rules);
        }
    }

    /// A fence of C20.
    pub fn fence_c20(&mut self, ord: FenceOrd, rules: Rules) {
        if !ord.is_sc() {
            self.acquire_release(ord, rules);
            return;
        }
        if !rules.breaks(Mutant::SaturatedScFence) {
            self.desaturate(rules);
        }
        self.acquire();
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
        self.release(rules);
        if let Some(earlier) = earlier {
            self.released.sc.access = earlier;
        }
        if rules.breaks(Mutant::ScFenceReleasesNoFence) {
            self.released.sc.fence.clear();
        }
        self.fence_version += 1;
        self.renew_version();
    }

    /// A fence of RC20. `reserved` is shared by all threads, under its own lock. As long as no access is seq_cst, the
    /// rules for accesses may be those of C20.
    pub fn fence_rc20(&mut self, ord: FenceOrd, reserved: &mut ReservedLocation, rules: Rules) {
        if !ord.is_sc() {
            self.acquire_release(ord, rules);
            return;
        }
        self.acquire();
        self.learn_hb(&reserved.message);
        self.learn_past(&reserved.access_past);
        self.bump();
        reserved.message.assign(&self.view.hb);
        reserved.access_past.assign(&self.sc_past);
        self.release(rules);
    }

    /// The acquire part: messages that were only read so far are now known.
    fn acquire(&mut self) {
        if self.pending.is_absent() {
            return;
        }
        let mut pending = std::mem::take(&mut self.pending);
        self.learn_hb(&pending.hb);
        self.learn_access(&pending.sc.access);
        self.learn_fence(&pending.sc.fence);
        self.learn_eco(&pending.sc.eco);
        pending.clear();
        self.pending = pending;
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
