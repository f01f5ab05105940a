//! The writes of one location in modification order, and the search for a stale one.

use crate::mutation::{Mutant, Mutation};
use crate::{Access, Timestamp, WriteRef};
use rsan_model::{CasStrength, LocId, ThreadId, Value};

/// The writes of one location in modification order, the initial one first.
#[derive(Clone, Debug)]
pub struct History {
    writes: Vec<Write>,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    thread: Option<ThreadId>,
    value: Value,
    rmw: bool,
}

impl Default for History {
    fn default() -> Self {
        Self::new(0)
    }
}

impl History {
    /// A location that holds `value`.
    pub fn new(value: Value) -> Self {
        Self {
            writes: vec![Write {
                thread: None,
                value,
                rmw: false,
            }],
        }
    }

    /// Adds a write.
    pub fn push(&mut self, thread: ThreadId, value: Value, rmw: bool) {
        self.writes.push(Write {
            thread: Some(thread),
            value,
            rmw,
        });
    }

    /// The last write.
    pub fn last(&self) -> Timestamp {
        Timestamp(self.writes.len() as u64 - 1)
    }

    /// A write, as it is reported.
    pub fn write_ref(&self, loc: LocId, timestamp: Timestamp) -> WriteRef {
        let write = self.writes[timestamp.index()];
        WriteRef {
            loc,
            timestamp,
            thread: write.thread,
            value: write.value,
        }
    }

    fn value(&self, p: Timestamp) -> Value {
        self.writes[p.index()].value
    }

    /// Whether a new write could be put directly after `p`: the last write of its block, that is, no RMW
    /// follows it. A block is a plain write with the RMWs that follow it.
    fn extensible(&self, p: Timestamp) -> bool {
        self.writes
            .get(p.next().index())
            .is_none_or(|next| !next.rmw)
    }

    fn suits(&self, p: Timestamp, need: Need<'_>) -> bool {
        let value = self.value(p);
        match need {
            Need::Anything => true,
            Need::Extensible => self.extensible(p),
            Need::OneOf(values) => values.contains(&value),
            Need::OtherThan(unwanted) => value != unwanted,
            Need::ExtensibleWith(wanted) => value == wanted && self.extensible(p),
        }
    }

    /// The newest write older than `missed` that makes the access weak: in reach, with a suitable value, and
    /// extensible if the access writes. `lower` gives the oldest write in reach of an SC / non-SC access.
    pub(crate) fn stale(
        &self,
        access: &Access<'_>,
        lower: impl Fn(bool) -> Timestamp,
        missed: Timestamp,
        mutation: Mutation,
    ) -> Option<Timestamp> {
        if mutation.breaks(Mutant::BlockedNotChecked) && self.blocks(access) {
            return None;
        }
        let outcomes = outcomes(access, mutation).into_iter().flatten();
        let newest = |(sc, need): (bool, Need<'_>)| {
            let mut window = (lower(sc).0..missed.0).rev().map(Timestamp);
            window.find(|&p| self.suits(p, need))
        };
        outcomes.filter_map(newest).max()
    }

    fn blocks(&self, access: &Access<'_>) -> bool {
        let held = self.value(self.last());
        match *access {
            Access::Wait { values, .. } => !values.contains(&held),
            Access::Bcas { expected, .. } => held != expected,
            Access::Load(_) | Access::Store(_) | Access::Rmw(_) | Access::Cas { .. } => false,
        }
    }
}

/// What an access needs of the write that it reads, or that it is put after.
#[derive(Clone, Copy, Debug)]
enum Need<'a> {
    Anything,
    Extensible,
    OneOf(&'a [Value]),
    OtherThan(Value),
    ExtensibleWith(Value),
}

/// How an access can end: whether it is seq_cst then, and what it needs. Only a compare-and-swap has a
/// second outcome, its failure, with an order of its own.
fn outcomes<'a>(access: &'a Access<'a>, mutation: Mutation) -> [Option<(bool, Need<'a>)>; 2] {
    let unless = |mutant, otherwise, need| {
        if mutation.breaks(mutant) {
            otherwise
        } else {
            need
        }
    };
    let only = |sc, need| [Some((sc, need)), None];
    match *access {
        Access::Load(ord) => {
            let need = unless(Mutant::LoadUsesBlocks, Need::Extensible, Need::Anything);
            only(ord.is_sc(), need)
        }
        Access::Store(ord) => {
            let need = unless(Mutant::StoreIgnoresBlocks, Need::Anything, Need::Extensible);
            only(ord.is_sc(), need)
        }
        Access::Rmw(ord) => {
            let need = unless(Mutant::RmwIgnoresBlocks, Need::Anything, Need::Extensible);
            only(ord.is_sc(), need)
        }
        Access::Wait { values, ord } => {
            let need = unless(Mutant::WaitAsLoad, Need::Anything, Need::OneOf(values));
            only(ord.is_sc(), need)
        }
        Access::Bcas { ref expected, ord } => {
            let value_only = Need::OneOf(std::slice::from_ref(expected));
            let need = Need::ExtensibleWith(*expected);
            let need = unless(Mutant::BcasAsRmw, Need::Extensible, need);
            let need = unless(Mutant::BcasIgnoresBlocks, value_only, need);
            only(ord.is_sc(), need)
        }
        Access::Cas {
            expected,
            ord,
            fail,
            strength,
        } => {
            let as_rmw = only(ord.is_sc(), Need::Extensible);
            let failure = match strength {
                CasStrength::Weak if mutation.breaks(Mutant::WeakCasAsRmw) => return as_rmw,
                CasStrength::Strong if mutation.breaks(Mutant::StrongCasAsRmw) => return as_rmw,
                CasStrength::Weak => Need::Anything,
                CasStrength::Strong => {
                    let need = Need::OtherThan(expected);
                    unless(Mutant::StrongCasAsLoad, Need::Anything, need)
                }
            };
            let success = Need::ExtensibleWith(expected);
            [Some((ord.is_sc(), success)), Some((fail.is_sc(), failure))]
        }
    }
}
