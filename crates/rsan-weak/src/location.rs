//! One location: its writes, what is known of their order, and who has accessed which of them.

use crate::fences::Bound;
use crate::order::Node;
use rsan_clocks::write_log::{Epoch, Stamp, VectorClock};

/// A write of a location, as long as nothing is forgotten.
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
    /// What an acquiring read of it takes over.
    pub(crate) message: VectorClock,
}

/// Who has accessed which write: by slot, only where the write is another than before.
#[derive(Clone, Debug, Default)]
struct Accesses {
    /// By epoch.
    all: Vec<(Epoch, WriteId)>,
    /// seq_cst ones, by their place in the execution.
    sc: Vec<(u64, WriteId)>,
}

/// A location.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// In the order of execution, the initial value first.
    pub(crate) writes: Vec<Write>,
    /// Of the same writes.
    pub(crate) order: Vec<Node>,
    accesses: Vec<Accesses>,
    /// What is before its last write in the order of execution, as far as accesses carry it.
    pub(crate) past_of_writes: VectorClock,
    /// The same for all its accesses.
    pub(crate) past: VectorClock,
}

/// The last entry that is at most the bound.
fn last<K: PartialOrd>(
    entries: &[(K, WriteId)],
    is_within: impl Fn(&K) -> bool,
) -> Option<WriteId> {
    let count = entries.partition_point(|(key, _)| is_within(key));
    Some(entries.get(count.checked_sub(1)?)?.1)
}

fn push<K>(entries: &mut Vec<(K, WriteId)>, key: K, write: WriteId) {
    if entries.last().is_none_or(|(_, last)| *last != write) {
        entries.push((key, write));
    }
}

impl Location {
    pub(crate) fn new(value: u128) -> Self {
        let initial = Write {
            value,
            tag: 0,
            stamp: None,
            message: VectorClock::default(),
        };
        Self {
            writes: vec![initial],
            order: vec![Node::default()],
            accesses: Vec::new(),
            past_of_writes: VectorClock::default(),
            past: VectorClock::default(),
        }
    }

    /// The writes that must come before, or be, what the next access writes or reads.
    pub(crate) fn prior(&self, hb: &VectorClock, bound: &Bound) -> Vec<WriteId> {
        let mut prior = vec![WriteId::INITIAL];
        let empty = VectorClock::default();
        let fenced = bound.before.as_deref().unwrap_or(&empty).slice();
        let hb = hb.slice();
        for (slot, accesses) in self.accesses.iter().enumerate() {
            let epoch = |clock: &[Epoch]| clock.get(slot).copied().unwrap_or_default();
            let known = epoch(hb).max(epoch(fenced));
            let by_epoch = last(&accesses.all, |epoch| *epoch <= known);
            let by_sc = last(&accesses.sc, |number| *number < bound.number);
            prior.extend(by_epoch.into_iter().chain(by_sc));
        }
        prior
    }

    /// An access of a write.
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
        let mut node = Node::default();
        if let Some(stamp) = write.stamp {
            node.upto.set(stamp.slot, stamp.epoch);
        }
        self.writes.push(write);
        self.order.push(node);
        id
    }
}
