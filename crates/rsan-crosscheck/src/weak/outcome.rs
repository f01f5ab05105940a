//! What a complete execution is compared by, and the modification orders that an engine's constraints leave open.

use super::{Known, Memory};
use rsan_axioms::Stop;
use rsan_model::{Label, Value};

/// An event: its thread, counted from 1, and its place there, counted from 0; (0, 0) stands for the initial writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Name(pub u32, pub u32);

impl Name {
    /// As the engine keeps it; 0 is the initial write.
    pub(super) fn tag(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.1)
    }

    pub(super) fn of_tag(tag: u64) -> Self {
        Self((tag >> 32) as u32, tag as u32)
    }
}

/// A complete execution: its graph, and how it ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Outcome {
    /// Accesses and fences of each thread, and the write that is read.
    pub events: Vec<Vec<(Label, Option<Name>)>>,
    /// The writes of each location in modification order; only the last one where [`Outcome::summary`] made it.
    pub writes: Vec<Vec<Name>>,
    /// The value of each location's last write.
    pub memory: Vec<Value>,
    /// Final registers.
    pub registers: Vec<Vec<Value>>,
    /// How each thread came to its end.
    pub stops: Vec<Stop>,
}

impl Outcome {
    /// The outcome without the order of writes that are not the last.
    #[must_use]
    pub fn summary(mut self) -> Self {
        for writes in &mut self.writes {
            writes.drain(..writes.len().saturating_sub(1));
        }
        self
    }
}

/// The orders of a location's writes that are left open, or only their last writes, with values.
pub(super) fn orders<M: Memory>(
    memory: &M,
    at: M::Location,
    updates: &dyn Fn(Name) -> Option<Name>,
    whole: bool,
) -> Vec<(Vec<Name>, Value)> {
    let writes = memory.writes(at);
    if whole {
        let mut found = Vec::new();
        let order = Vec::new();
        Extend {
            memory,
            at,
            updates,
        }
        .extend(order, &writes, &mut found);
        // No order at all: the execution is not consistent, and no other has such an outcome.
        if found.is_empty() {
            found.push((Vec::new(), 0));
        }
        return found;
    }
    let is_last = |last: &&Known<M::Write>| {
        let later = |w: &Known<M::Write>| w.id != last.id && memory.is_before(at, last.id, w.id);
        !writes.iter().any(later)
    };
    let last = writes.iter().filter(is_last);
    last.map(|w| (vec![Name::of_tag(w.tag)], w.value)).collect()
}

struct Extend<'m, M: Memory> {
    memory: &'m M,
    at: M::Location,
    /// The write that a read-modify-write has read.
    updates: &'m dyn Fn(Name) -> Option<Name>,
}

impl<M: Memory> Extend<'_, M> {
    /// All ways to put the rest of the writes behind some.
    fn extend(
        &self,
        order: Vec<Name>,
        rest: &[Known<M::Write>],
        found: &mut Vec<(Vec<Name>, Value)>,
    ) {
        let name = |w: &Known<M::Write>| Name::of_tag(w.tag);
        let last = order.last().copied();
        let updated = rest
            .iter()
            .any(|w| last.is_some() && (self.updates)(name(w)) == last);
        for (i, write) in rest.iter().enumerate() {
            let first = |w: &Known<M::Write>| {
                w.id == write.id || !self.memory.is_before(self.at, w.id, write.id)
            };
            let updates = (self.updates)(name(write));
            if !rest.iter().all(first) || (updated || updates.is_some()) && updates != last {
                continue;
            }
            let mut order = order.clone();
            order.push(name(write));
            let mut rest = rest.to_vec();
            rest.remove(i);
            match rest.is_empty() {
                true => found.push((order, write.value)),
                false => self.extend(order, &rest, found),
            }
        }
    }
}
