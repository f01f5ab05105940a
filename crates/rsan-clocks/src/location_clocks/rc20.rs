//! RC20: happens-before through release and acquire; SC fences through a reserved location.
//!
//! Source: docs/theory/location-clocks.md, L3 to L5; RSAN (PLDI 2025), section 4, and RC20 (POPL 2021). seq_cst accesses do not exist in RC20; they are
//! taken as release/acquire, and a caller that wants them refused does so before. RA is this model with
//! every access at least release/acquire: the caller raises the orders, or uses [`crate::ReleaseAcquire`].
//!
//! | paper | here |
//! | --- | --- |
//! | T_c | `Thread::current` |
//! | T_r | `Thread::released` |
//! | T_a | `Thread::acquirable` |
//! | W(x) | `messages[x]` |
//! | W(f) | `fences` |
//!
//! Invariant: released <= current <= acquirable, pointwise.

use super::{Reach, ScOrder, Step, StepKind};
use crate::clock::{LocationClock, entry};
use crate::mutation::{Mutant, Mutation};
use crate::{Effect, Timestamp};
use rsan_model::{FenceOrd, LocId, ThreadId};

/// The clocks of RC20.
#[derive(Clone, Debug, Default)]
pub struct Rc20 {
    threads: Vec<Thread>,
    messages: Vec<LocationClock>,
    fences: LocationClock,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// What the thread knows: the newest write w with `w rf?;hb?` some event of the thread.
    current: LocationClock,
    /// What it knew at its last release fence.
    released: LocationClock,
    /// What it would know after an acquire fence.
    acquirable: LocationClock,
}

impl Thread {
    fn acquire(&mut self) {
        self.current.assign(&self.acquirable);
    }

    fn release(&mut self) {
        self.released.assign(&self.current);
    }

    fn observe(&mut self, loc: LocId, timestamp: Timestamp) {
        self.current.raise(loc, timestamp);
        self.acquirable.raise(loc, timestamp);
    }

    fn receive(&mut self, message: &LocationClock, acquires: bool) {
        self.acquirable.join(message);
        if acquires {
            self.current.join(message);
        }
    }
}

impl Reach for Rc20 {
    fn lower_bound(&self, thread: ThreadId, loc: LocId, _: bool) -> Timestamp {
        self.threads
            .get(thread.index())
            .map_or(Timestamp::INITIAL, |t| t.current.get(loc))
    }

    fn access(&mut self, step: &Step) {
        let mutation = step.mutation;
        let thread = entry(&mut self.threads, step.thread.index());
        let message = entry(&mut self.messages, step.loc.index());
        let effect = match step.kind {
            StepKind::Atomic(effect) => effect,
            StepKind::PlainWrite => {
                thread.observe(step.loc, step.timestamp);
                message.clear();
                message.raise(step.loc, step.timestamp);
                return;
            }
        };
        if effect.reads() {
            thread.receive(
                message,
                effect.acquires() || mutated_acquire(mutation, effect),
            );
        }
        let reads_only = effect.value_written().is_none();
        if !(reads_only && mutation.breaks(Mutant::ReadNotRecorded)) {
            thread.observe(step.loc, step.timestamp);
        }
        if reads_only {
            return;
        }
        let continues = match effect {
            Effect::Rmw { .. } => !mutation.breaks(Mutant::RmwBreaksReleaseSequence),
            _ => mutation.breaks(Mutant::StoreContinuesReleaseSequence),
        };
        if !continues {
            message.clear();
        }
        if effect.releases() || mutated_release(mutation, effect) {
            message.join(&thread.current);
        } else {
            message.join(&thread.released);
            message.raise(step.loc, step.timestamp);
        }
    }

    fn fence(&mut self, thread: ThreadId, ord: FenceOrd, order: &mut ScOrder) {
        let mutation = order.mutation;
        let t = entry(&mut self.threads, thread.index());
        if ord.is_sc() {
            order.order_fence(thread);
            let release_first = mutation.breaks(Mutant::ScFenceReleaseFirst);
            if release_first {
                t.release();
            } else {
                t.acquire();
            }
            if mutation.breaks(Mutant::ScFenceReleaseBeforeAcquiring) {
                t.release();
            }
            if !mutation.breaks(Mutant::ScFenceWithoutHb) {
                t.receive(&self.fences, true);
                self.fences.assign(&t.current);
            }
            if release_first {
                t.acquire();
            } else if !mutation.breaks(Mutant::ScFenceReleaseBeforeAcquiring) {
                t.release();
            }
            return;
        }
        if ord.acquires() && !mutation.breaks(Mutant::AcquireFenceIgnored) {
            t.acquire();
        }
        if ord.releases() && !mutation.breaks(Mutant::ReleaseFenceIgnored) {
            t.release();
        }
    }

    fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        let inherited = entry(&mut self.threads, parent.index()).current.clone();
        *entry(&mut self.threads, child.index()) = Thread {
            acquirable: inherited.clone(),
            current: inherited,
            released: LocationClock::default(),
        };
    }

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        let last = entry(&mut self.threads, child.index()).current.clone();
        entry(&mut self.threads, parent.index()).receive(&last, true);
    }

    fn forget(&mut self, loc: LocId) {
        entry(&mut self.messages, loc.index()).clear();
        let threads = self
            .threads
            .iter_mut()
            .flat_map(|t| [&mut t.current, &mut t.released, &mut t.acquirable]);
        for clock in threads.chain(&mut self.messages) {
            clock.set(loc, Timestamp::INITIAL);
        }
        self.fences.set(loc, Timestamp::INITIAL);
    }
}

fn mutated_acquire(mutation: Mutation, effect: Effect) -> bool {
    match effect {
        Effect::Read(_) => mutation.breaks(Mutant::RelaxedReadAcquires),
        Effect::Rmw { .. } => mutation.breaks(Mutant::RelaxedRmwAcquires),
        Effect::Write { .. } => false,
    }
}

fn mutated_release(mutation: Mutation, effect: Effect) -> bool {
    match effect {
        Effect::Read(_) => false,
        Effect::Write { .. } => mutation.breaks(Mutant::RelaxedStoreReleases),
        Effect::Rmw { .. } => mutation.breaks(Mutant::RelaxedRmwReleases),
    }
}
