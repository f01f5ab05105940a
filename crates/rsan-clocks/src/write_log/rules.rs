//! Which of the optional rules are on, and the two tests that all shortcuts are made of.

use super::epoch::{Stamp, VectorClock, Version};
use super::thread::ThreadState;
use crate::mutation::{Mutant, Mutation};

/// How the monitor works. All settings give the same answers, except that `sc_accesses` selects the model.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Skip joins whose result is known (tags, ownership, versions), share equal state, and allocate
    /// seq_cst state only when there is some. Off: every rule is executed in full, on dense state.
    pub fast_paths: bool,
    /// Keep purely seq_cst threads and locations in a cheaper form.
    pub saturation: bool,
    /// Whether seq_cst accesses are more than release/acquire ones (C20: yes, RC20: no).
    pub sc_accesses: bool,
    pub(crate) mutation: Mutation,
}

impl Default for Rules {
    /// C20 with everything on.
    fn default() -> Self {
        Self::c20()
    }
}

impl Rules {
    /// C20 with everything on.
    pub fn c20() -> Self {
        Self {
            fast_paths: true,
            saturation: true,
            sc_accesses: true,
            mutation: Mutation::default(),
        }
    }

    /// RC20 with everything on.
    pub fn rc20() -> Self {
        Self {
            sc_accesses: false,
            ..Self::c20()
        }
    }

    /// Whether a rule is broken on purpose.
    #[inline]
    pub(super) fn breaks(self, mutant: Mutant) -> bool {
        self.mutation.breaks(mutant)
    }

    /// Whether `clock` surely includes what the slot published at the stamp, so that joining it is no news.
    #[inline]
    pub(super) fn covered(self, clock: &VectorClock, stamp: Option<Stamp>) -> bool {
        self.fast_paths && stamp.is_some_and(|stamp| self.includes(clock, stamp))
    }

    /// Whether the event at the stamp is in the set that `clock` describes. An epoch of a later generation
    /// proves nothing about an earlier owner of the slot.
    #[inline]
    pub(super) fn includes(self, clock: &VectorClock, stamp: Stamp) -> bool {
        let known = clock.get(stamp.slot);
        stamp.epoch == super::Epoch::START
            || known >= stamp.epoch
                && (known.same_generation(stamp.epoch) || self.breaks(Mutant::GenerationIgnored))
    }

    /// Whether what was noted when a thread had a version still holds for this thread, but for its own entries.
    /// `despite_learning` breaks the rule.
    #[inline]
    pub(super) fn is_at(
        self,
        thread: &ThreadState,
        noted: Version,
        despite_learning: Mutant,
    ) -> bool {
        let present = thread.version;
        self.fast_paths
            && (noted == present || self.breaks(despite_learning) && noted.is_older(present))
    }

    /// Whether an ownership tag names the thread that now stands at `mine`.
    #[inline]
    pub(super) fn owns(self, mine: Stamp, owner: Option<Stamp>) -> bool {
        self.fast_paths
            && owner.is_some_and(|owner| {
                owner.slot == mine.slot
                    && (owner.epoch.same_generation(mine.epoch)
                        || self.breaks(Mutant::OwnershipIgnoresGeneration))
            })
    }
}
