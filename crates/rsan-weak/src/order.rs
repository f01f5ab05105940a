//! What is known of the modification order of a location.
//!
//! Writes of one slot are ordered as they are executed, for each happens before the next. So the writes that come before a write, or are
//! it, are a clock over slots: [`Node::upto`]. A read-modify-write comes directly after the write that it reads; such writes form a
//! chain, and an edge between two chains goes from the end of one to the beginning of the other.

use crate::location::{Location, WriteId};
use rsan_clocks::write_log::VectorClock;

/// A write's place in the order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// The last write of each slot that comes before it, or is it.
    pub(crate) upto: VectorClock,
    /// Writes that are known to come later.
    later: Vec<WriteId>,
    /// The read-modify-write that reads it.
    updated_by: Option<WriteId>,
    /// The write that it reads, if it is a read-modify-write.
    updates: Option<WriteId>,
}

impl Location {
    /// Whether a write is known to come before another one, or is it.
    pub(crate) fn is_before(&self, one: WriteId, other: WriteId) -> bool {
        match self.writes[one.index()].stamp {
            None => true,
            Some(stamp) => self.order[other.index()].upto.get(stamp.slot) >= stamp.epoch,
        }
    }

    /// Whether the next access may read, or follow, a write, given those that must come before it or be it.
    pub(crate) fn may_follow(&self, write: WriteId, prior: &[WriteId]) -> bool {
        let contradicts = |prior: &WriteId| *prior != write && self.is_before(write, *prior);
        !prior.iter().any(contradicts)
    }

    /// Whether a read-modify-write has read it.
    pub(crate) fn is_updated(&self, write: WriteId) -> bool {
        self.order[write.index()].updated_by.is_some()
    }

    fn first_of_chain(&self, mut write: WriteId) -> WriteId {
        while let Some(before) = self.order[write.index()].updates {
            write = before;
        }
        write
    }

    fn last_of_chain(&self, mut write: WriteId) -> WriteId {
        while let Some(after) = self.order[write.index()].updated_by {
            write = after;
        }
        write
    }

    /// From now on a write comes before another one, which does not come before it.
    pub(crate) fn put_before(&mut self, one: WriteId, other: WriteId) {
        if self.is_before(one, other) {
            return;
        }
        self.link(self.last_of_chain(one), self.first_of_chain(other));
    }

    /// A store that was added last comes after these writes, and after the initial one like all others.
    pub(crate) fn place(&mut self, new: WriteId, prior: &[WriteId]) {
        if prior.iter().all(|before| *before == WriteId::INITIAL) {
            self.link(self.last_of_chain(WriteId::INITIAL), new);
        }
        for before in prior {
            self.put_before(*before, new);
        }
        self.include_itself(new);
    }

    /// A write comes before itself. Not before its place is found: its clock then covers earlier writes of its slot, whether they were
    /// joined or not.
    fn include_itself(&mut self, new: WriteId) {
        if let Some(stamp) = self.writes[new.index()].stamp {
            self.order[new.index()].upto.set(stamp.slot, stamp.epoch);
        }
    }

    fn link(&mut self, one: WriteId, other: WriteId) {
        self.order[one.index()].later.push(other);
        let upto = self.order[one.index()].upto.clone();
        self.raise(other, &upto);
    }

    /// More comes before a write, and so before all that come later.
    fn raise(&mut self, write: WriteId, upto: &VectorClock) {
        let mut left = vec![write];
        while let Some(write) = left.pop() {
            let node = &mut self.order[write.index()];
            if node.upto.join(upto) {
                left.extend(node.later.iter().copied().chain(node.updated_by));
            }
        }
    }

    /// A write that was added last comes directly after another one, which it has read.
    pub(crate) fn put_directly_after(&mut self, new: WriteId, read: WriteId) {
        let node = &mut self.order[read.index()];
        node.updated_by = Some(new);
        let later = std::mem::take(&mut node.later);
        let upto = node.upto.clone();
        self.order[new.index()].updates = Some(read);
        self.order[new.index()].upto.join(&upto);
        self.include_itself(new);
        let upto = self.order[new.index()].upto.clone();
        for write in &later {
            self.raise(*write, &upto);
        }
        self.order[new.index()].later = later;
    }
}
