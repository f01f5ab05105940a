//! What a thread knows (docs/theory/write-log.md, W3 and W9). Owned by the thread; nobody else needs it but the parent at a join.

use super::epoch::{Epoch, Slot, Stamp, VectorClock, Version};
use super::rules::Rules;
use super::slots::Assignment;
use super::view::{Observation, ScSet, View};
use crate::mutation::Mutant;
use rsan_model::ThreadId;

/// The state of one thread.
#[derive(Clone, Debug)]
pub struct ThreadState {
    /// Its name in reports.
    pub(super) id: ThreadId,
    pub(super) slot: Slot,
    /// Its present (`ep`).
    pub(super) epoch: Epoch,
    /// What it knows (`C`; `q`, `f`, `e`). While saturated, `q` is not stored: it is `sc_past`.
    pub(super) view: View,
    /// What every SC order puts before its next event (`S`).
    pub(super) sc_past: VectorClock,
    /// What it knew at its last release fence (`R`; `rq`, `rf`, `re`).
    pub(super) released: View,
    /// When that was (`rt`); the start of the run if never.
    pub(super) released_at: Epoch,
    /// Messages that it read without acquiring, since its last acquire fence (`pC`; `pq`, `pf`, `pe`).
    pub(super) pending: View,
    /// There may be something in `pending`.
    pub(super) has_pending: bool,
    /// There may be something in `view.sc.fence`.
    pub(super) has_fences: bool,
    /// `access` and `fence` of `released` are the same.
    pub(super) released_alike: bool,
    /// Changes whenever `view.sc.fence` grows (`fver`).
    pub(super) fence_version: Version,
    /// Counts how often `sc_past` grew.
    pub(super) past_version: u64,
    /// Changes whenever `view`, `sc_past` or `released` change in other entries than the thread's own.
    pub(super) version: Version,
    /// The version that its last seq_cst fence left.
    pub(super) fenced: Version,
    /// `sc_past` grew since the last bump, so locations that show the present epoch may lack something.
    pub(super) grew: bool,
    /// The same for `view.sc.access`.
    pub(super) sc_grew: bool,
    /// `view.hb` was published since the last bump, so the present epoch is no longer private.
    pub(super) dirty: bool,
    /// Everything in `sc_past` is a seq_cst access (`sat`).
    pub(super) saturated: bool,
    /// There may be something in `sc_past`, if `saturated`: epochs alone are no accesses.
    pub(super) has_sc: bool,
}

impl ThreadState {
    /// A thread that starts with the run, not by another thread.
    pub fn initial(id: ThreadId, place: Assignment, rules: Rules) -> Self {
        let mut thread = Self {
            id,
            slot: place.slot,
            epoch: place.epoch,
            view: View::default(),
            sc_past: VectorClock::default(),
            released: View::default(),
            released_at: Epoch::START,
            pending: View::default(),
            has_pending: false,
            has_fences: false,
            released_alike: false,
            fence_version: place.fence_version,
            past_version: 0,
            version: place.version,
            fenced: Version::NONE,
            grew: false,
            sc_grew: false,
            dirty: true,
            saturated: rules.saturation && rules.sc_accesses,
            has_sc: false,
        };
        thread.mark_present();
        thread
    }

    /// A thread that this one creates. Its slot comes from [`super::SlotTable::assign`].
    pub fn spawn(&mut self, id: ThreadId, place: Assignment, rules: Rules) -> Self {
        self.dirty = true;
        let mut child = Self::initial(id, place, rules);
        child.saturated = self.saturated;
        child.has_sc = self.has_sc;
        // No location has seen the fences that the child inherits from this slot.
        child.fence_version = child.fence_version.next();
        child.grew = true;
        child.sc_grew = true;
        child.view.hb.assign(&self.view.hb);
        child.sc_past.assign(&self.sc_past);
        if !rules.breaks(Mutant::ForkWithoutSc) {
            child.view.sc.access.assign(&self.view.sc.access);
        }
        if !rules.breaks(Mutant::ForkWithoutFence) {
            child.view.sc.fence.assign(&self.view.sc.fence);
            child.has_fences = self.has_fences;
        }
        if !rules.breaks(Mutant::ForkWithoutEco) {
            child.view.sc.eco.assign(&self.view.sc.eco);
        }
        child.mark_present();
        child
    }

    /// Goes on in another slot, which nobody had: as a thread would that this one creates, and that takes over all it has. Nobody can tell, but
    /// that epochs begin anew (docs/theory/write-log.md, W14). Returns where it stands before its first event there.
    pub fn go_on_in(&mut self, place: Assignment) -> Stamp {
        let start = Stamp {
            slot: place.slot,
            epoch: place.epoch.next(),
        };
        self.slot = place.slot;
        // What it knew at its last release fence is published with an epoch in which there is no event.
        if self.released_at != Epoch::START {
            self.released_at = start.epoch;
            self.released.hb.set(start.slot, start.epoch);
        }
        self.fence_version = place.fence_version.next();
        self.version = place.version.next();
        self.fenced = Version::NONE;
        self.past_version += 1;
        self.epoch = start.epoch;
        self.bump();
        start
    }

    /// Takes over what an ended thread knew.
    pub fn join(&mut self, child: &Self, rules: Rules) {
        let keeps_saturated = child.saturated || rules.breaks(Mutant::SaturatedJoin);
        if self.saturated && !keeps_saturated {
            self.desaturate(rules);
        }
        self.learn_hb(&child.view.hb);
        self.learn_past(&child.sc_past);
        let theirs = &child.view.sc;
        if child.saturated && child.has_sc && !self.saturated {
            self.learn_accesses(&child.sc_past);
        }
        self.has_sc |= child.has_sc;
        self.learn_access(&theirs.access);
        self.learn_fence(&theirs.fence);
        if !rules.breaks(Mutant::JoinWithoutEco) {
            self.learn_eco(&theirs.eco, rules);
        }
    }

    /// Something was learnt, if `grew`.
    #[inline]
    fn note(&mut self, grew: bool) {
        if grew {
            self.version = self.version.next();
        }
    }

    /// Adds to what happens before.
    #[inline]
    pub(super) fn learn_hb(&mut self, hb: &VectorClock) {
        let grew = self.view.hb.join(hb);
        self.note(grew);
    }

    /// Adds to what every SC order puts before.
    #[inline]
    pub(super) fn learn_past(&mut self, past: &VectorClock) {
        let grew = self.sc_past.join(past);
        self.past_version += u64::from(grew);
        self.grew |= grew;
        self.note(grew);
    }

    /// Adds seq_cst accesses to what binds seq_cst accesses.
    pub(super) fn learn_accesses(&mut self, accesses: &VectorClock) {
        let grew = self.view.sc.access.accesses.join(accesses);
        self.sc_grew |= grew;
        self.note(grew);
    }

    /// Adds to what binds seq_cst accesses.
    pub(super) fn learn_access(&mut self, set: &ScSet) {
        let grew = self.view.sc.access.join(set);
        self.sc_grew |= grew;
        self.note(grew);
    }

    /// Adds to what binds all accesses.
    pub(super) fn learn_fence(&mut self, set: &ScSet) {
        if self.view.sc.fence.join(set) {
            self.has_fences = true;
            self.fence_version = self.fence_version.next();
            self.note(true);
        }
    }

    /// Adds to what the next seq_cst fence makes binding. The fence takes it together with what happens before and
    /// with what binds seq_cst accesses, here and wherever messages bring it, so what is there already is no news.
    pub(super) fn learn_eco(&mut self, set: &ScSet, rules: Rules) {
        let View { hb, sc } = &self.view;
        let accesses = sc.access.accesses.covers(&set.accesses);
        let fences = set.fences.is_within_either(&sc.access.fences, hb);
        let known = (accesses || rules.breaks(Mutant::EcoSkipDespiteAccesses))
            && (fences || rules.breaks(Mutant::EcoSkipDespiteFences));
        if rules.fast_paths && known {
            return;
        }
        let grew = self.view.sc.eco.join(set);
        self.note(grew);
    }

    /// What it publishes changed in another way.
    pub(super) fn renew_version(&mut self) {
        self.note(true);
    }

    /// Its name in reports.
    #[inline]
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// Its place in the clocks.
    #[inline]
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// Its present.
    #[inline]
    pub fn stamp(&self) -> Stamp {
        Stamp {
            slot: self.slot,
            epoch: self.epoch,
        }
    }

    /// Counts how often what every SC order puts before its next event grew by events of other threads.
    #[inline]
    pub fn past_version(&self) -> u64 {
        self.past_version
    }

    /// What happens before its next event.
    #[inline]
    pub fn hb(&self) -> &VectorClock {
        &self.view.hb
    }

    /// What happens before its next event, for somebody who takes it over.
    pub fn publish(&mut self) -> &VectorClock {
        self.dirty = true;
        &self.view.hb
    }

    /// What was published happens before its next event: for executions that are not sequentially consistent, of which only
    /// happens-before is known.
    pub fn synchronise(&mut self, published: &VectorClock) {
        self.learn_hb(published);
        self.learn_past(published);
    }

    /// What every SC order puts before its next event.
    pub fn past(&self) -> &VectorClock {
        &self.sc_past
    }

    /// Every SC order puts this before its next event: for executions that are not checked, of which nothing else is known.
    pub fn follow(&mut self, past: &VectorClock) {
        self.learn_past(past);
    }

    /// What pruning needs to know of it; see [`super::LocationState::prune`].
    pub fn knowledge(&self) -> Knowledge<'_> {
        Knowledge {
            hb: &self.view.hb,
            fence: &self.view.sc.fence,
        }
    }

    /// Up to which epoch the seq_cst accesses of `slot` are known to seq_cst accesses of this thread.
    pub(super) fn known_sc_access(&self, slot: Slot) -> Epoch {
        if self.saturated && !self.has_sc {
            Epoch::START
        } else if self.saturated {
            self.sc_past.get(slot)
        } else {
            self.view.sc.access.last_access(slot)
        }
    }

    /// Changes whenever it learns something of others.
    #[inline]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Its own last seq_cst access, if there is one and it is not implied by saturation.
    #[inline]
    pub(super) fn own_sc_access(&self) -> Option<Epoch> {
        let epoch = self.view.sc.access.accesses.get(self.slot);
        (epoch != Epoch::START).then_some(epoch)
    }

    /// A new present: whatever is recorded from now on is not in any clock that was published before.
    #[inline]
    pub(super) fn bump(&mut self) {
        self.epoch = self.epoch.next();
        self.mark_present();
        self.grew = false;
        self.sc_grew = false;
        self.dirty = false;
    }

    /// Whether `clock`, as last joined with one of this thread's clocks, shows its present epoch.
    #[inline]
    pub(super) fn is_shown_by(&self, clock: &VectorClock) -> bool {
        clock.get(self.slot) == self.epoch && !self.epoch.is_exhausted()
    }

    /// Begins a new epoch although nothing was published: what is recorded from now on is told from what was before.
    #[inline]
    pub fn new_epoch(&mut self) {
        self.bump();
    }

    /// Whether nobody can know its present epoch yet, that is, nothing was published in it.
    #[inline]
    pub fn is_private(&self) -> bool {
        !self.dirty
    }

    /// An epoch for an access that the race detector records: one that nobody can know yet.
    #[inline]
    pub fn private_epoch(&mut self, rules: Rules) -> Epoch {
        if self.dirty && !rules.breaks(Mutant::NoLazyRaceBump) {
            self.bump();
        }
        self.epoch
    }

    #[inline]
    fn mark_present(&mut self) {
        self.view.hb.set(self.slot, self.epoch);
        self.sc_past.set(self.slot, self.epoch);
    }

    /// Whether an observation of a write puts older writes out of the reach of this thread's next access,
    /// which is seq_cst or not.
    #[inline]
    pub(super) fn knows(&self, item: Observation, sc: bool, rules: Rules) -> bool {
        let Stamp { slot, epoch } = item.stamp;
        if self.view.hb.get(slot) >= epoch {
            return true;
        }
        let sc = sc || rules.breaks(Mutant::ScSetBindsAll);
        if sc && self.saturated {
            return item.sc && self.sc_past.get(slot) >= epoch;
        }
        let (set, fences, accesses, plain) = if sc {
            let set = &self.view.sc.access;
            let fences = Mutant::ScSetWithoutFences;
            let accesses = Mutant::ScSetWithoutAccesses;
            (set, fences, accesses, Mutant::ScSetTakesPlain)
        } else {
            let set = &self.view.sc.fence;
            let fences = Mutant::FenceSetWithoutFences;
            let accesses = Mutant::FenceSetWithoutAccesses;
            (set, fences, accesses, Mutant::FenceSetTakesPlain)
        };
        let by_fence = !rules.breaks(fences) && set.fences.get(slot) >= epoch;
        let counts = (item.sc || rules.breaks(plain)) && !rules.breaks(accesses);
        by_fence || counts && set.accesses.get(slot) >= epoch
    }

    /// Checks the invariants that the rules keep; for tests.
    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        let past = &self.sc_past;
        assert_eq!(self.view.hb.get(self.slot), self.epoch);
        assert_eq!(past.get(self.slot), self.epoch);
        for view in [&self.view, &self.released, &self.pending] {
            assert!(past.covers(&view.hb), "hb is within hbSC");
            for set in [&view.sc.access, &view.sc.fence, &view.sc.eco] {
                assert!(set.is_within(past), "sets are within hbSC");
            }
            assert!(
                self.saturated || view.sc.access.covers(&view.sc.fence),
                "what binds all accesses binds seq_cst ones"
            );
        }
        if self.saturated {
            assert!(self.view.sc.is_absent() && self.pending.is_absent());
        }
        assert!(self.has_pending || self.pending.is_absent());
        assert!(self.has_fences || self.view.sc.fence.is_absent());
    }
}

/// What a thread knows, as far as pruning is concerned. A snapshot that is too old is a valid one.
#[derive(Clone, Copy, Debug)]
pub struct Knowledge<'a> {
    /// Happens-before.
    pub hb: &'a VectorClock,
    /// seq_cst events that bind all its accesses.
    pub fence: &'a ScSet,
}

impl Knowledge<'_> {
    /// Whether an observation of a write puts older writes out of reach of a non-SC access.
    pub(super) fn includes(&self, item: Observation) -> bool {
        let Stamp { slot, epoch } = item.stamp;
        self.hb.get(slot) >= epoch
            || self.fence.fences.get(slot) >= epoch
            || item.sc && self.fence.accesses.get(slot) >= epoch
    }
}
