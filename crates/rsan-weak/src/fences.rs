//! seq_cst fences: what they make binding, for whom (docs/theory/weak.md, E2).

use crate::mutation::{Mutant, Mutation};
use rsan_clocks::write_log::{Epoch, Slot, Stamp, VectorClock};

/// A seq_cst fence.
#[derive(Clone, Debug)]
struct Fence {
    epoch: Epoch,
    /// Its place in the execution.
    number: u64,
    /// What happens before it, or before one that was executed earlier.
    before: VectorClock,
}

/// The seq_cst fences of an execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fences {
    /// What happens before some of them.
    before: VectorClock,
    /// By slot, in the order in which they were executed.
    all: Vec<Vec<Fence>>,
}

/// What binds an access because of seq_cst events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound<'f> {
    /// Accesses that happen before this.
    pub(crate) before: &'f [Epoch],
    /// seq_cst accesses that were executed before this.
    pub(crate) number: u64,
}

impl Bound<'_> {
    /// Nothing binds.
    pub(crate) const NONE: Bound<'static> = Bound {
        before: &[],
        number: 0,
    };
}

impl Fences {
    /// A thread, of which this is known, makes a fence.
    pub(crate) fn add(&mut self, hb: &VectorClock, stamp: Stamp, number: u64) {
        self.before.join(hb);
        let slot = usize::from(stamp.slot.0);
        if self.all.len() <= slot {
            self.all.resize(slot + 1, Vec::new());
        }
        self.all[slot].push(Fence {
            epoch: stamp.epoch,
            number,
            before: self.before.clone(),
        });
    }

    /// How many are remembered of a slot.
    pub(crate) fn count(&self, slot: Slot) -> usize {
        self.all.get(usize::from(slot.0)).map_or(0, Vec::len)
    }

    /// How many are remembered.
    pub(crate) fn total(&self) -> usize {
        self.all.iter().map(Vec::len).sum()
    }

    /// What binds a seq_cst access that is the next event (rule 2).
    pub(crate) fn for_sc(&self, mutation: Mutation) -> Bound<'_> {
        let fences = !mutation.breaks(Mutant::ScIgnoresFences);
        let accesses = !mutation.breaks(Mutant::ScIgnoresAccesses);
        Bound {
            before: if fences { self.before.slice() } else { &[] },
            number: if accesses { u64::MAX } else { 0 },
        }
    }

    /// What binds another access: that of the last fence that happens before it (rule 3).
    pub(crate) fn for_others(&self, hb: &VectorClock, own: Slot, mutation: Mutation) -> Bound<'_> {
        let mut last: Option<&Fence> = None;
        for (slot, (epoch, fences)) in hb.slice().iter().zip(&self.all).enumerate() {
            if mutation.breaks(Mutant::FenceOnlyOwn) && slot != usize::from(own.0) {
                continue;
            }
            let count = fences.partition_point(|fence| fence.epoch <= *epoch);
            let count = match mutation.breaks(Mutant::FenceFirst) {
                true => count.min(1),
                false => count,
            };
            let known = count.checked_sub(1).and_then(|index| fences.get(index));
            if let Some(fence) = known
                && last.is_none_or(|last| last.number < fence.number)
            {
                last = Some(fence);
            }
        }
        let Some(fence) = last else {
            return Bound::NONE;
        };
        let before = match () {
            () if mutation.breaks(Mutant::FenceIgnoresFences) => &[],
            () if mutation.breaks(Mutant::FenceTakesLaterFences) => self.before.slice(),
            () => fence.before.slice(),
        };
        let number = match () {
            () if mutation.breaks(Mutant::FenceIgnoresAccesses) => 0,
            () if mutation.breaks(Mutant::FenceTakesLaterAccesses) => u64::MAX,
            () => fence.number,
        };
        Bound { before, number }
    }

    /// Forgets fences of a slot that a later one stands for: of those that everybody knows the last one is enough (docs/theory/weak.md,
    /// E5). Of those that are older than the window the last one stands for all: whoever knows an earlier one is bound by it (E6).
    pub(crate) fn prune(
        &mut self,
        slot: Slot,
        horizon: &VectorClock,
        oldest: u64,
        mutation: Mutation,
    ) {
        let Some(fences) = self.all.get_mut(usize::from(slot.0)) else {
            return;
        };
        let known = horizon.get(slot);
        let known = fences.partition_point(|fence| fence.epoch <= known);
        fences.drain(..known.saturating_sub(1));
        let old = fences.partition_point(|fence| fence.number < oldest);
        if old > 1 {
            let first = fences[0].epoch;
            fences.drain(..old - 1);
            if !mutation.breaks(Mutant::WindowLosesFence) {
                fences[0].epoch = first;
            }
        }
    }

    /// The same for all slots.
    pub(crate) fn prune_all(&mut self, horizon: &VectorClock, oldest: u64, mutation: Mutation) {
        for slot in 0..self.all.len() {
            self.prune(Slot(slot as u16), horizon, oldest, mutation);
        }
    }
}
