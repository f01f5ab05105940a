//! What is known of the modification order of a location (docs/theory/weak.md, E3).
//!
//! Writes of one slot are ordered as they are executed, for each happens before the next. So the writes that come before a write, or are
//! it, are a clock over slots: [`Node::upto`]. A read-modify-write comes directly after the write that it reads; such writes form a
//! chain, and an edge between two chains goes from the end of one to the beginning of the other.
//!
//! **Invariants**: if a write is before another one by its clock, a path of edges leads there; the clock of a write covers those of all
//! that are before it; all writes but the first chain are after that chain.

use crate::location::{Location, WriteId};
use crate::mutation::{Mutant, Mutation};
use rsan_clocks::write_log::VectorClock;

/// A write's place in the order.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The last write of each slot that comes before it, or is it.
    pub(crate) upto: VectorClock,
    /// A write that is known to come later.
    pub(crate) later: Option<WriteId>,
    /// Others: most writes have one at most.
    pub(crate) others_later: Vec<WriteId>,
    /// The read-modify-write that reads it.
    pub(crate) updated_by: Option<WriteId>,
    /// The first write of its chain.
    pub(crate) first: WriteId,
    /// The last one, if it is the first.
    pub(crate) last: WriteId,
}

impl Node {
    /// Nothing is known of a write yet.
    pub(crate) fn new(write: WriteId) -> Self {
        Self {
            upto: VectorClock::default(),
            later: None,
            others_later: Vec::new(),
            updated_by: None,
            first: write,
            last: write,
        }
    }

    fn add_later(&mut self, write: WriteId) {
        match self.later {
            None => self.later = Some(write),
            Some(_) => self.others_later.push(write),
        }
    }

    /// The next writes after it, as far as they are known.
    fn next(&self) -> impl Iterator<Item = WriteId> + '_ {
        let later = self.later.into_iter().chain(self.updated_by);
        later.chain(self.others_later.iter().copied())
    }
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

    fn last_of_chain(&self, write: WriteId) -> WriteId {
        self.order[self.order[write.index()].first.index()].last
    }

    /// From now on a write comes before another one, which does not come before it.
    pub(crate) fn put_before(&mut self, one: WriteId, other: WriteId, mutation: Mutation) {
        if self.is_before(one, other) {
            return;
        }
        let from = match mutation.breaks(Mutant::EdgeOutOfChain) {
            true => one,
            false => self.last_of_chain(one),
        };
        let to = match mutation.breaks(Mutant::EdgeIntoChain) {
            true => other,
            false => self.order[other.index()].first,
        };
        self.link(from, to, mutation);
    }

    /// A store that was added last comes after these writes, and after the first chain like all others.
    pub(crate) fn place(&mut self, new: WriteId, prior: &[WriteId], mutation: Mutation) {
        if mutation.breaks(Mutant::OwnWritesNotJoined) {
            self.include_itself(new);
        }
        let only_base = prior.iter().all(|before| Some(*before) == self.base);
        if let Some(base) = self.base
            && only_base
            && !mutation.breaks(Mutant::InitialChainIgnored)
        {
            self.link(self.last_of_chain(base), new, mutation);
        }
        if !mutation.breaks(Mutant::StoresUnordered) {
            for before in prior {
                self.put_before(*before, new, mutation);
            }
        }
        self.include_itself(new);
    }

    /// A write is before itself. Not until its place is found: its clock then covers earlier writes of its slot, whether what comes
    /// before them is there or not.
    fn include_itself(&mut self, new: WriteId) {
        if let Some(stamp) = self.writes[new.index()].stamp {
            self.order[new.index()].upto.set(stamp.slot, stamp.epoch);
        }
    }

    /// An edge.
    fn link(&mut self, one: WriteId, other: WriteId, mutation: Mutation) {
        let nodes = [one.index(), other.index()];
        let [one, other] = (self.order.get_disjoint_mut(nodes)).expect("an edge has two ends");
        one.add_later(WriteId(nodes[1] as u32));
        if other.upto.join(&one.upto) && other.next().next().is_some() {
            let upto = other.upto.clone();
            self.raise_after(WriteId(nodes[1] as u32), &upto, mutation);
        }
    }

    /// More comes before a write: it comes before all that come later, too.
    fn raise_after(&mut self, write: WriteId, upto: &VectorClock, mutation: Mutation) {
        if mutation.breaks(Mutant::NothingRaised) {
            return;
        }
        let mut left: Vec<WriteId> = self.order[write.index()].next().collect();
        while let Some(write) = left.pop() {
            let node = &mut self.order[write.index()];
            if node.upto.join(upto) {
                left.extend(node.next());
            }
        }
    }

    /// A write that was added last comes directly after another one, which it has read, and before what came after that.
    pub(crate) fn put_directly_after(&mut self, new: WriteId, read: WriteId, mutation: Mutation) {
        let nodes = [read.index(), new.index()];
        let [before, node] = (self.order.get_disjoint_mut(nodes)).expect("it reads another one");
        before.updated_by = Some(new);
        node.first = before.first;
        node.upto.assign(&before.upto);
        if !mutation.breaks(Mutant::LaterNotMoved) {
            node.later = before.later.take();
            node.others_later = std::mem::take(&mut before.others_later);
        }
        let first = node.first.index();
        self.order[first].last = new;
        self.ends.retain(|end| *end != read);
        self.include_itself(new);
        if self.order[new.index()].later.is_some() {
            let upto = self.order[new.index()].upto.clone();
            self.raise_after(new, &upto, mutation);
        }
    }
}
