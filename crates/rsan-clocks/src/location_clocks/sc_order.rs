//! The order that every SC explanation of the run so far must respect: `hbSC = (po ∪ asw ∪ rf ∪ mo ∪ fr)+`
//! (docs/theory/location-clocks.md, L2).

use super::Step;
use crate::Timestamp;
use crate::clock::{LocationClock, entry};
use crate::mutation::{Mutant, Mutation};
use rsan_model::{LocId, ThreadId};

/// For threads and locations, the newest write of each location that is hbSC-before them.
#[derive(Clone, Debug, Default)]
pub struct ScOrder {
    /// T_SC: before the next event of the thread.
    threads: Vec<LocationClock>,
    /// Per location.
    locations: Vec<Accesses>,
    /// M_SC of RC20's reserved location: before the next SC fence. W_SC is the same there.
    fences: LocationClock,
    pub(super) mutation: Mutation,
}

#[derive(Clone, Debug, Default)]
struct Accesses {
    /// W_SC: before the last write.
    last_write: LocationClock,
    /// M_SC: before any access.
    any: LocationClock,
}

impl ScOrder {
    /// The newest write of `loc` that every SC order puts before the next event of `thread`.
    pub fn bound(&self, thread: ThreadId, loc: LocId) -> Timestamp {
        self.threads
            .get(thread.index())
            .map_or(Timestamp::INITIAL, |clock| clock.get(loc))
    }

    pub(super) fn access(&mut self, step: &Step) {
        let thread = entry(&mut self.threads, step.thread.index());
        let loc = entry(&mut self.locations, step.loc.index());
        if step.kind.writes() {
            thread.join(&loc.any);
            thread.raise(step.loc, step.timestamp);
            loc.any.assign(thread);
            loc.last_write.assign(thread);
        } else {
            thread.join(&loc.last_write);
            if self.mutation.breaks(Mutant::ReadsAfterReads) {
                thread.join(&loc.any);
            }
            if !self.mutation.breaks(Mutant::ReadsNotOrdered) {
                loc.any.join(thread);
            }
        }
    }

    /// An SC fence of RC20: an RMW of the reserved location.
    pub(super) fn order_fence(&mut self, thread: ThreadId) {
        if self.mutation.breaks(Mutant::ScFenceWithoutOrder) {
            return;
        }
        let thread = entry(&mut self.threads, thread.index());
        thread.join(&self.fences);
        self.fences.assign(thread);
    }

    pub(super) fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        let inherited = entry(&mut self.threads, parent.index()).clone();
        *entry(&mut self.threads, child.index()) = inherited;
    }

    pub(super) fn join(&mut self, parent: ThreadId, child: ThreadId) {
        let last = entry(&mut self.threads, child.index()).clone();
        entry(&mut self.threads, parent.index()).join(&last);
    }

    pub(super) fn forget(&mut self, loc: LocId) {
        *entry(&mut self.locations, loc.index()) = Accesses::default();
        let accesses = self
            .locations
            .iter_mut()
            .flat_map(|a| [&mut a.last_write, &mut a.any]);
        for clock in self.threads.iter_mut().chain(accesses) {
            clock.set(loc, Timestamp::INITIAL);
        }
        self.fences.set(loc, Timestamp::INITIAL);
    }
}
