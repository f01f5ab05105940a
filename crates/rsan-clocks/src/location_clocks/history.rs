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

    /// The newest write older than `missed` that makes the access weak: in reach, with a suitable value, and
    /// extensible if the access writes. `lower` gives the oldest write in reach of an SC / non-SC access.
    pub(crate) fn stale(
        &self,
        access: &Access<'_>,
        lower: impl Fn(bool) -> Timestamp,
        missed: Timestamp,
        mutation: Mutation,
    ) -> Option<Timestamp> {
        let newest = |sc: bool, suits: &dyn Fn(Timestamp) -> bool| {
            let window = (lower(sc).0..missed.0).rev().map(Timestamp);
            window.into_iter().find(|&p| suits(p))
        };
        let any = |_| true;
        let extensible = |p| self.extensible(p);
        let last = self.value(self.last());
        match *access {
            Access::Load(ord) if mutation.breaks(Mutant::LoadUsesBlocks) => {
                newest(ord.is_sc(), &extensible)
            }
            Access::Load(ord) => newest(ord.is_sc(), &any),
            Access::Store(ord) if mutation.breaks(Mutant::StoreIgnoresBlocks) => {
                newest(ord.is_sc(), &any)
            }
            Access::Store(ord) => newest(ord.is_sc(), &extensible),
            Access::Rmw(ord) if mutation.breaks(Mutant::RmwIgnoresBlocks) => {
                newest(ord.is_sc(), &any)
            }
            Access::Rmw(ord) => newest(ord.is_sc(), &extensible),
            Access::Cas { ord, strength, .. } if breaks_cas(mutation, strength) => {
                if mutation.breaks(Mutant::StrongCasAsLoad) {
                    newest(ord.is_sc(), &any)
                } else {
                    newest(ord.is_sc(), &extensible)
                }
            }
            Access::Cas {
                expected,
                ord,
                fail,
                strength,
            } => {
                let success = newest(ord.is_sc(), &|p| {
                    self.value(p) == expected && self.extensible(p)
                });
                let failure = newest(fail.is_sc(), &|p| match strength {
                    CasStrength::Weak => true,
                    CasStrength::Strong => self.value(p) != expected,
                });
                success.max(failure)
            }
            Access::Wait { values, .. }
                if mutation.breaks(Mutant::BlockedNotChecked) && !values.contains(&last) =>
            {
                None
            }
            Access::Wait { ord, .. } if mutation.breaks(Mutant::WaitAsLoad) => {
                newest(ord.is_sc(), &any)
            }
            Access::Wait { values, ord } => {
                newest(ord.is_sc(), &|p| values.contains(&self.value(p)))
            }
            Access::Bcas { expected, .. }
                if mutation.breaks(Mutant::BlockedNotChecked) && expected != last =>
            {
                None
            }
            Access::Bcas { ord, .. } if mutation.breaks(Mutant::BcasAsRmw) => {
                newest(ord.is_sc(), &extensible)
            }
            Access::Bcas { expected, ord } => newest(ord.is_sc(), &|p| {
                let blocks = !mutation.breaks(Mutant::BcasIgnoresBlocks);
                self.value(p) == expected && (self.extensible(p) || !blocks)
            }),
        }
    }
}

fn breaks_cas(mutation: Mutation, strength: CasStrength) -> bool {
    match strength {
        CasStrength::Weak => mutation.breaks(Mutant::WeakCasAsRmw),
        CasStrength::Strong => {
            mutation.breaks(Mutant::StrongCasAsLoad) || mutation.breaks(Mutant::StrongCasAsRmw)
        }
    }
}
