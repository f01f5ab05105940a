//! The reference monitor: clocks that map every location to a timestamp.
//!
//! **Decides**, in each state of an SC run, whether the next access of a thread can be weak: whether a graph
//! that the model allows and that SC forbids extends the graph of the run by that access. Sound and complete
//! for that question; a program is robust iff no state of any SC run of it is flagged.
//!
//! **Source**: docs/theory/location-clocks.md, L1 to L10, from RSAN (PLDI 2025), sections 3 to 5, with the parts that its
//! text leaves out derived anew; the C++20 rules are our own. Each was compared with an enumeration of execution graphs.
//!
//! **Notation**
//!
//! | paper | here | meaning |
//! | --- | --- | --- |
//! | T_SC, W_SC, M_SC | [`ScOrder`] | newest write that every SC order puts before the next event of a thread, before the last write, before any access of a location |
//! | T_c, T_r, T_a, W | [`Rc20`] | what happens-before lets a thread know now, knew at its last release fence, would know after an acquire fence; the message of the last write |
//! | c, q, d, f, e | [`C20`] | the same with seq_cst events, see there |
//! | val, valR, ne, RMW twins | [`History`] | read off the list of writes |
//!
//! An access of a thread to a location can be weak iff some write `p` with `lower bound <= p < T_SC` suits it:
//! any `p` for a load, one that no RMW follows directly for a store or RMW, one with the right value for the
//! accesses that depend on values (docs/theory/sc-runs.md, S5).
//!
//! **Deviations** from the paper: no clocks for values and RMWs; a check searches the window between the
//! bounds in the list of writes, which is equivalent and needs no set of critical values. The list is never
//! shortened. Plain writes to atomic locations publish no message.
//!
//! **Invariants**: lower bound of a non-SC access <= that of an SC access <= T_SC <= last write.
//!
//! **Cost**: O(locations) per event and O(locations · (threads + locations)) memory, plus the list of writes.

mod c20;
mod history;
mod rc20;
mod sc_order;

pub use c20::C20;
pub use history::History;
pub use rc20::Rc20;
pub use sc_order::ScOrder;

#[cfg(test)]
mod tests;

use crate::clock::entry;
use crate::mutation::Mutation;
use crate::{Access, Bounds, Effect, Monitor, Observer, Timestamp, Violation};
use rsan_model::{FenceOrd, LocId, ThreadId, Value};

/// An access, as the clocks see it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub loc: LocId,
    /// The write that it made, or else the one it read.
    pub timestamp: Timestamp,
    /// What happened.
    pub kind: StepKind,
    pub(crate) mutation: Mutation,
}

/// What happened in a [`Step`].
#[derive(Clone, Copy, Debug)]
pub enum StepKind {
    /// An atomic access.
    Atomic(Effect),
    /// A non-atomic write to an atomic location.
    PlainWrite,
}

impl StepKind {
    fn writes(self) -> bool {
        match self {
            Self::Atomic(effect) => effect.value_written().is_some(),
            Self::PlainWrite => true,
        }
    }
}

/// A memory model, as far as the monitor needs it: what is out of a thread's reach.
pub trait Reach: Default {
    /// The oldest write of `loc` that an access of `thread` may still read or follow.
    fn lower_bound(&self, thread: ThreadId, loc: LocId, sc: bool) -> Timestamp;

    /// An access happened.
    fn access(&mut self, step: &Step);

    /// A fence happened. `order` is there for models whose SC fences are ordered like accesses.
    fn fence(&mut self, thread: ThreadId, ord: FenceOrd, order: &mut ScOrder);

    /// A thread was created.
    fn spawn(&mut self, parent: ThreadId, child: ThreadId);

    /// A thread was joined.
    fn join(&mut self, parent: ThreadId, child: ThreadId);

    /// Forgets a location.
    fn forget(&mut self, loc: LocId);
}

/// The monitor with location clocks, for the model `M`.
#[derive(Clone, Debug, Default)]
pub struct LocationClocks<M> {
    histories: Vec<History>,
    order: ScOrder,
    model: M,
    mutation: Mutation,
}

impl<M: Reach> LocationClocks<M> {
    /// A monitor at the start of a run; location `i` initially holds `values[i]`, all further ones hold 0.
    pub fn new(values: impl IntoIterator<Item = Value>) -> Self {
        Self {
            histories: values.into_iter().map(History::new).collect(),
            order: ScOrder::default(),
            model: M::default(),
            mutation: Mutation::default(),
        }
    }

    /// A monitor with a broken rule.
    #[cfg(test)]
    pub(crate) fn mutated(values: impl IntoIterator<Item = Value>, mutation: Mutation) -> Self {
        let mut monitor = Self::new(values);
        monitor.mutation = mutation;
        monitor.order.mutation = mutation;
        monitor
    }

    /// The clocks of the memory model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The writes of a location so far, if it was used.
    pub fn history(&self, loc: LocId) -> Option<&History> {
        self.histories.get(loc.index())
    }

    fn step(&mut self, thread: ThreadId, loc: LocId, kind: StepKind, value: Option<Value>) {
        let history = entry(&mut self.histories, loc.index());
        if let Some(value) = value {
            let rmw = matches!(kind, StepKind::Atomic(effect) if effect.is_rmw());
            history.push(thread, value, rmw);
        }
        let step = Step {
            thread,
            loc,
            timestamp: history.last(),
            kind,
            mutation: self.mutation,
        };
        self.model.access(&step);
        self.order.access(&step);
    }
}

impl<M: Reach> Observer for LocationClocks<M> {
    fn apply(&mut self, thread: ThreadId, loc: LocId, effect: Effect) {
        self.step(
            thread,
            loc,
            StepKind::Atomic(effect),
            effect.value_written(),
        );
    }

    fn plain_write(&mut self, thread: ThreadId, loc: LocId, value: Value) {
        self.step(thread, loc, StepKind::PlainWrite, Some(value));
    }

    fn fence(&mut self, thread: ThreadId, ord: FenceOrd) {
        self.model.fence(thread, ord, &mut self.order);
    }

    fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.model.spawn(parent, child);
        self.order.spawn(parent, child);
    }

    fn exit(&mut self, _: ThreadId) {}

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        self.model.join(parent, child);
        self.order.join(parent, child);
    }

    fn forget(&mut self, loc: LocId, value: Value) {
        *entry(&mut self.histories, loc.index()) = History::new(value);
        self.model.forget(loc);
        self.order.forget(loc);
    }
}

impl<M: Reach> Monitor for LocationClocks<M> {
    fn check(&self, thread: ThreadId, loc: LocId, access: &Access<'_>) -> Option<Violation> {
        let history = self.histories.get(loc.index())?;
        let missed = self.order.bound(thread, loc);
        let lower = |sc| self.model.lower_bound(thread, loc, sc);
        let stale = history.stale(access, lower, missed, self.mutation)?;
        Some(Violation {
            missed: history.write_ref(loc, missed),
            stale: history.write_ref(loc, stale),
        })
    }
}

impl<M: Reach> Bounds for LocationClocks<M> {
    fn lower_bound(&self, thread: ThreadId, loc: LocId, sc: bool) -> Timestamp {
        self.model.lower_bound(thread, loc, sc)
    }

    fn sc_bound(&self, thread: ThreadId, loc: LocId) -> Timestamp {
        self.order.bound(thread, loc)
    }
}
