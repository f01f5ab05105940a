//! Who has which slot, and who may have it next (docs/theory/write-log.md, W14).

use super::epoch::{Epoch, Slot, Stamp, Version};
use super::rules::Rules;
use super::thread::ThreadState;
use crate::clock::entry;
use crate::mutation::Mutant;
use rsan_model::ThreadId;
use std::collections::VecDeque;

/// A slot for a new thread, with the state in which the thread starts.
#[derive(Clone, Copy, Debug)]
pub struct Assignment {
    pub(super) slot: Slot,
    pub(super) epoch: Epoch,
    pub(super) fence_version: Version,
    pub(super) version: Version,
}

/// The slots of ended threads, oldest end first, and how many slots there are.
#[derive(Clone, Debug)]
pub struct SlotTable {
    used: usize,
    limit: usize,
    first_epoch: Epoch,
    retired: Vec<Retired>,
    counts: SlotCounts,
}

/// How threads got their slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SlotCounts {
    /// From an ended thread whose past the parent knows: nothing is lost.
    pub exact: u64,
    /// From another ended thread: what is known of that thread gets less precise.
    pub forced: u64,
}

/// Whose the slots are and were: what an event is called in a report, given its stamp.
#[derive(Clone, Debug, Default)]
pub struct Owners(Vec<VecDeque<(Epoch, ThreadId)>>);

impl Owners {
    /// A thread got a slot, and stands there before its first event.
    pub fn add(&mut self, start: Stamp, thread: ThreadId) {
        let owners = entry(&mut self.0, usize::from(start.slot.0));
        owners.push_back((start.epoch, thread));
    }

    /// Forgets who had a slot first.
    pub fn forget_first(&mut self, slot: Slot) -> Option<ThreadId> {
        let owners = self.0.get_mut(usize::from(slot.0))?;
        Some(owners.pop_front()?.1)
    }

    /// Who made the event at a stamp. A thread begins where the one before it has stopped; its first event comes later.
    pub fn owner(&self, stamp: Stamp) -> Option<ThreadId> {
        let owners = self.0.get(usize::from(stamp.slot.0))?;
        let had = |owner: &&(Epoch, ThreadId)| owner.0 < stamp.epoch || stamp.epoch.is_exhausted();
        Some(owners.iter().rev().find(had)?.1)
    }
}

#[derive(Clone, Copy, Debug)]
struct Retired {
    slot: Slot,
    /// The last epoch of its thread.
    epoch: Epoch,
    /// The last seq_cst access of its thread.
    sc_access: Epoch,
    fence_version: Version,
    version: Version,
}

impl SlotTable {
    /// A table that prefers losing precision to giving out more than `limit` slots. More threads than that
    /// at the same time still get slots of their own.
    pub fn new(limit: Option<usize>) -> Self {
        Self {
            used: 0,
            limit: limit.unwrap_or(usize::MAX),
            first_epoch: Epoch::START,
            retired: Vec::new(),
            counts: SlotCounts::default(),
        }
    }

    /// Fresh slots begin at this epoch, not at the start: for tests of overflow.
    pub fn start_at(&mut self, first_epoch: Epoch) {
        self.first_epoch = first_epoch;
    }

    /// How often slots were used again.
    pub fn counts(&self) -> SlotCounts {
        self.counts
    }

    /// A slot for a thread that `parent` creates, or that starts with the run.
    ///
    /// # Panics
    /// When more than 65,536 threads live at the same time.
    pub fn assign(&mut self, parent: Option<&ThreadState>, rules: Rules) -> Assignment {
        let exact = parent.and_then(|parent| {
            let follows = |old: &Retired| old.is_followed_by(parent, rules);
            self.retired.iter().position(follows)
        });
        if let Some(index) = exact {
            self.counts.exact += 1;
            let old = self.retired.remove(index);
            return old.succeeded_at(old.epoch);
        }
        if self.used >= self.limit {
            let next = |old: &Retired| {
                if rules.breaks(Mutant::ForcedReuseWithoutGeneration) {
                    Some(old.epoch)
                } else {
                    old.epoch.next_generation()
                }
            };
            let index = self.retired.iter().position(|old| next(old).is_some());
            if let Some(index) = index {
                self.counts.forced += 1;
                let old = self.retired.remove(index);
                return old.succeeded_at(next(&old).unwrap_or(old.epoch));
            }
        }
        let fresh = self.fresh().expect("at most 65,536 threads live at a time");
        Assignment {
            epoch: self.first_epoch,
            ..fresh
        }
    }

    /// A slot that nobody had, from the start of its epochs, for a thread that has come to the end of its own
    /// ([`ThreadState::go_on_in`]). `None` if there is none left.
    pub fn fresh(&mut self) -> Option<Assignment> {
        let slot = Slot(u16::try_from(self.used).ok()?);
        self.used += 1;
        Some(Assignment {
            slot,
            epoch: Epoch::START,
            fence_version: Version::first(slot),
            version: Version::first(slot),
        })
    }

    /// The thread has ended: its slot may be given to another one.
    pub fn retire(&mut self, thread: &ThreadState) {
        self.retired.push(Retired {
            slot: thread.slot,
            epoch: thread.epoch,
            sc_access: thread.known_sc_access(thread.slot),
            fence_version: thread.fence_version,
            version: thread.version.next(),
        });
    }
}

impl Retired {
    /// Whether a child of `parent` continues this thread as if it were the same: the end of the old thread
    /// happens before the creation, and what the old thread's seq_cst accesses bind, binds the child too.
    /// The second does not follow from the first (an SC access that synchronises with the parent through a
    /// non-SC one is hb-known but does not order S).
    fn is_followed_by(&self, parent: &ThreadState, rules: Rules) -> bool {
        let hb = parent.view.hb.get(self.slot) >= self.epoch;
        let sc = parent.known_sc_access(self.slot) >= self.sc_access;
        (hb || rules.breaks(Mutant::SlotReuseWithoutHb))
            && (sc || rules.breaks(Mutant::SlotReuseWithoutSc))
    }

    fn succeeded_at(self, epoch: Epoch) -> Assignment {
        Assignment {
            slot: self.slot,
            epoch,
            fence_version: self.fence_version,
            version: self.version,
        }
    }
}
