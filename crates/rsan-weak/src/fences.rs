//! seq_cst fences: what they make binding, for whom.

use rsan_clocks::write_log::{Epoch, VectorClock};
use std::sync::Arc;

/// A seq_cst fence.
#[derive(Clone, Debug)]
struct Fence {
    epoch: Epoch,
    /// Its place in the execution.
    number: u64,
    /// What happens before it, or before one that was executed earlier.
    before: Arc<VectorClock>,
}

/// The seq_cst fences of an execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fences {
    /// What happens before some of them.
    before: Arc<VectorClock>,
    /// By slot, in the order in which they were executed.
    all: Vec<Vec<Fence>>,
}

/// What binds an access because of seq_cst events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bound {
    /// Accesses that happen before this.
    pub(crate) before: Option<Arc<VectorClock>>,
    /// seq_cst accesses that were executed before this.
    pub(crate) number: u64,
}

impl Fences {
    /// A thread, of which this is known, makes a fence.
    pub(crate) fn add(&mut self, hb: &VectorClock, slot: usize, epoch: Epoch, number: u64) {
        Arc::make_mut(&mut self.before).join(hb);
        if self.all.len() <= slot {
            self.all.resize(slot + 1, Vec::new());
        }
        let before = self.before.clone();
        self.all[slot].push(Fence {
            epoch,
            number,
            before,
        });
    }

    /// What binds a seq_cst access that is the next event.
    pub(crate) fn for_sc(&self) -> Bound {
        Bound {
            before: (!self.all.is_empty()).then(|| self.before.clone()),
            number: u64::MAX,
        }
    }

    /// What binds another access: that of the last fence that happens before it.
    pub(crate) fn for_others(&self, hb: &VectorClock) -> Bound {
        let known = hb.slice().iter().zip(&self.all);
        let last = known.filter_map(|(epoch, fences)| {
            let count = fences.partition_point(|fence| fence.epoch <= *epoch);
            fences.get(count.checked_sub(1)?)
        });
        match last.max_by_key(|fence| fence.number) {
            Some(fence) => Bound {
                before: Some(fence.before.clone()),
                number: fence.number,
            },
            None => Bound::default(),
        }
    }
}
