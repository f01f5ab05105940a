//! Forgetting writes that nobody reads any more (docs/theory/weak.md, E5 and E6).
//!
//! What is forgotten is closed downwards in the known order: with a write, all that are known to come before it. Then no edge leads from
//! what is kept to what is not, but those to chains whose beginning is forgotten; and such a chain goes on with its first
//! read-modify-write that is kept, which stands for the beginning wherever somebody has accessed that.

use crate::location::{Location, Write, WriteId};
use crate::mutation::{Mutant, Mutation};
use rsan_clocks::write_log::{Epoch, Slot, VectorClock};

/// What may be forgotten.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon<'a> {
    /// What all live threads know.
    pub(crate) known: &'a VectorClock,
    /// Writes with lower numbers are old.
    pub(crate) oldest: u64,
}

/// Where the writes are after some are forgotten.
struct Moves {
    /// By the old number; a write that is forgotten is where its chain goes on.
    to: Vec<Option<WriteId>>,
}

impl Moves {
    fn of(&self, write: WriteId) -> Option<WriteId> {
        self.to[write.index()]
    }

    /// Entries of one slot, with the writes that stand for theirs.
    fn apply<K>(&self, entries: &mut Vec<(K, WriteId)>) {
        entries.retain_mut(|(_, write)| match self.of(*write) {
            Some(to) => {
                *write = to;
                true
            }
            None => false,
        });
        entries.dedup_by_key(|(_, write)| *write);
    }
}

impl Location {
    /// Forgets what can be forgotten.
    pub(crate) fn prune(&mut self, horizon: &Horizon<'_>, mutation: Mutation) {
        let last = self.last_kept(horizon, mutation);
        let is_gone = |write: WriteId| {
            let mut last = last.iter();
            last.any(|later| *later != write && self.is_before(write, *later))
        };
        let kept: Vec<bool> = (0..self.writes.len() as u32)
            .map(|write| !is_gone(WriteId(write)))
            .collect();
        if kept.contains(&false) {
            self.keep(&kept, mutation);
        }
        for (slot, accesses) in self.accesses.iter_mut().enumerate() {
            let known = horizon.known.get(Slot(slot as u16));
            let known = |(epoch, _): &(Epoch, WriteId)| *epoch <= known;
            let known = accesses.all.partition_point(known);
            accesses.all.drain(..known.saturating_sub(1));
        }
        self.limit = (2 * self.writes.len()).max(Self::FEWEST);
    }

    /// The writes before which nothing is kept.
    fn last_kept(&self, horizon: &Horizon<'_>, mutation: Mutation) -> Vec<WriteId> {
        let mut last = Vec::new();
        for (slot, accesses) in self.accesses.iter().enumerate() {
            let known = horizon.known.get(Slot(slot as u16));
            let all = mutation.breaks(Mutant::PruneIgnoresHorizon);
            let is_known = |(epoch, _): &&(Epoch, WriteId)| *epoch <= known || all;
            last.extend(accesses.all.iter().rfind(is_known).map(|(_, write)| *write));
        }
        if horizon.oldest > 0 {
            let is_old = |write: &Write| write.number < horizon.oldest;
            last.extend(self.last_of_slots(is_old));
        }
        last
    }

    /// The last write of each slot, of those that satisfy a condition.
    fn last_of_slots(&self, condition: impl Fn(&Write) -> bool) -> Vec<WriteId> {
        let mut seen = vec![false; self.accesses.len()];
        let is_last = |(_, write): &(usize, &Write)| {
            let slot = write.stamp.map(|stamp| usize::from(stamp.slot.0));
            condition(write) && slot.is_some_and(|slot| !std::mem::replace(&mut seen[slot], true))
        };
        let last = self.writes.iter().enumerate().rev().filter(is_last);
        last.map(|(write, _)| WriteId(write as u32)).collect()
    }

    /// Forgets all other writes.
    fn keep(&mut self, kept: &[bool], mutation: Mutation) {
        let moves = self.moves(kept);
        let loses = mutation.breaks(Mutant::PruneLosesChain);
        for accesses in &mut self.accesses {
            if loses {
                accesses.all.retain(|(_, write)| kept[write.index()]);
                accesses.sc.retain(|(_, write)| kept[write.index()]);
            }
            moves.apply(&mut accesses.all);
            moves.apply(&mut accesses.sc);
        }
        self.base = match mutation.breaks(Mutant::PruneLosesBase) {
            true => None,
            false => self.base.and_then(|base| moves.of(base)),
        };
        let mut keep = kept.iter().copied();
        self.writes.retain(|_| keep.next().unwrap_or(true));
        self.ends.retain(|end| kept[end.index()]);
        let to = |write: WriteId| moves.of(write).expect("it is kept, or its chain goes on");
        self.ends.iter_mut().for_each(|end| *end = to(*end));
        self.keep_order(kept, &moves);
    }

    fn keep_order(&mut self, kept: &[bool], moves: &Moves) {
        let order = self.order.iter().enumerate();
        let chains = order.filter(|(write, node)| node.first.index() == *write);
        let chains: Vec<(WriteId, WriteId)> = chains
            .filter_map(|(_, node)| Some((moves.of(node.first)?, moves.of(node.last)?)))
            .collect();
        let mut keep = kept.iter().copied();
        self.order.retain(|_| keep.next().unwrap_or(true));
        let to = |write: WriteId| moves.of(write).expect("what comes later is kept");
        for node in &mut self.order {
            node.first = to(node.first);
            node.later = node.later.map(to);
            node.updated_by = node.updated_by.map(to);
            node.others_later.iter_mut().for_each(|w| *w = to(*w));
        }
        for (first, last) in chains {
            self.order[first.index()].last = last;
        }
    }

    fn moves(&self, kept: &[bool]) -> Moves {
        let mut next = 0;
        let mut to: Vec<Option<WriteId>> = Vec::with_capacity(kept.len());
        for kept in kept {
            to.push(kept.then_some(WriteId(next)));
            next += u32::from(*kept);
        }
        // A read-modify-write has a higher number than what it reads.
        for write in (0..kept.len()).rev().filter(|write| !kept[*write]) {
            let after = self.order[write].updated_by;
            to[write] = after.and_then(|after| to[after.index()]);
        }
        Moves { to }
    }
}
