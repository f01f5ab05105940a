//! One location: its writes, what is known of their order, and who has accessed which of them.

use crate::fences::Bound;
use crate::mutation::{Mutant, Mutation};
use crate::order::Node;
use rsan_clocks::write_log::{Epoch, Slot, Stamp, VectorClock};

/// A write of a location, until the next access of it: pruning gives writes other numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WriteId(pub(crate) u32);

impl WriteId {
    pub(crate) const INITIAL: Self = Self(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A write.
#[derive(Clone, Debug)]
pub struct Write {
    /// What it wrote.
    pub value: u128,
    /// What the caller said of it; 0 for the initial value.
    pub tag: u128,
    /// When; nobody's for the initial value.
    pub stamp: Option<Stamp>,
    /// Its place in the execution.
    pub(crate) number: u64,
    /// What an acquiring read of it takes over.
    pub(crate) message: VectorClock,
}

/// Who has accessed which write: of a slot, only where the write is another than before. The writes follow each other in
/// modification order, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    /// By epoch.
    pub(crate) all: Vec<(Epoch, WriteId)>,
    /// seq_cst ones, by their place in the execution.
    pub(crate) sc: Vec<(u64, WriteId)>,
}

/// A location.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// In the order of execution, the initial value first.
    pub(crate) writes: Vec<Write>,
    /// Of the same writes.
    pub(crate) order: Vec<Node>,
    /// The writes that no read-modify-write has read, in the same order.
    pub(crate) ends: Vec<WriteId>,
    pub(crate) accesses: Vec<Accesses>,
    /// What everything comes after: the initial value, or the first of its read-modify-writes that is not forgotten.
    pub(crate) base: Option<WriteId>,
    /// The number of writes at which some are forgotten.
    pub(crate) limit: usize,
    /// What is before its last write in the order of execution, as far as accesses carry it.
    pub(crate) past_of_writes: VectorClock,
    /// The same for all its accesses.
    pub(crate) past: VectorClock,
}

/// The last entry that is within a bound.
fn last<K>(entries: &[(K, WriteId)], is_within: impl Fn(&K) -> bool) -> Option<WriteId> {
    match entries.last() {
        Some((key, write)) if is_within(key) => Some(*write),
        _ => {
            let count = entries.partition_point(|(key, _)| is_within(key));
            Some(entries.get(count.checked_sub(1)?)?.1)
        }
    }
}

fn push<K>(entries: &mut Vec<(K, WriteId)>, key: K, write: WriteId) {
    if entries.last().is_none_or(|(_, last)| *last != write) {
        entries.push((key, write));
    }
}

impl Location {
    /// Writes of a location from which on it is looked for some to forget.
    pub(crate) const FEWEST: usize = 16;

    pub(crate) fn new(value: u128) -> Self {
        let initial = Write {
            value,
            tag: 0,
            stamp: None,
            number: 0,
            message: VectorClock::default(),
        };
        Self {
            writes: vec![initial],
            order: vec![Node::new(WriteId::INITIAL)],
            ends: vec![WriteId::INITIAL],
            accesses: Vec::new(),
            base: Some(WriteId::INITIAL),
            limit: Self::FEWEST,
            past_of_writes: VectorClock::default(),
            past: VectorClock::default(),
        }
    }

    /// The writes that must come before, or be, what the next access writes or reads (docs/theory/weak.md, E2).
    pub(crate) fn prior(
        &self,
        hb: &VectorClock,
        bound: &Bound<'_>,
        mutation: Mutation,
        into: &mut Vec<WriteId>,
    ) {
        into.clear();
        let hb = match mutation.breaks(Mutant::HbBindsNothing) {
            true => &[],
            false => hb.slice(),
        };
        for (slot, accesses) in self.accesses.iter().enumerate() {
            let epoch = |clock: &[Epoch]| clock.get(slot).copied().unwrap_or_default();
            let known = epoch(hb).max(epoch(bound.before));
            let by_epoch = last(&accesses.all, |epoch| *epoch <= known);
            let by_sc = last(&accesses.sc, |number| *number < bound.number);
            into.extend(by_epoch);
            into.extend(by_sc.filter(|write| Some(*write) != by_epoch));
        }
    }

    /// Whether a thread that knows this much has accessed a write, or knows of somebody who has, and of no later one by the same.
    pub(crate) fn is_known(&self, hb: &VectorClock, write: WriteId) -> bool {
        let is_it = |(slot, accesses): (usize, &Accesses)| {
            let known = hb.get(Slot(slot as u16));
            last(&accesses.all, |epoch| *epoch <= known) == Some(write)
        };
        self.writes[write.index()].stamp.is_none() || self.accesses.iter().enumerate().any(is_it)
    }

    /// An access of a write, which is seq_cst and has this place in the execution, or is not.
    pub(crate) fn accessed(&mut self, stamp: Stamp, write: WriteId, sc: Option<u64>) {
        let slot = usize::from(stamp.slot.0);
        if self.accesses.len() <= slot {
            self.accesses.resize(slot + 1, Accesses::default());
        }
        let accesses = &mut self.accesses[slot];
        push(&mut accesses.all, stamp.epoch, write);
        if let Some(number) = sc {
            push(&mut accesses.sc, number, write);
        }
    }

    /// Another write, at the end of the execution.
    pub(crate) fn add(&mut self, write: Write) -> WriteId {
        let id = WriteId(self.writes.len() as u32);
        self.writes.push(write);
        self.order.push(Node::new(id));
        self.ends.push(id);
        id
    }

    /// How many records there are.
    pub(crate) fn records(&self) -> usize {
        let accesses = self.accesses.iter().map(|a| a.all.len() + a.sc.len());
        self.writes.len() + accesses.sum::<usize>()
    }
}
