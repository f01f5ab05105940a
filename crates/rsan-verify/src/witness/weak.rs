//! The access that weak memory allows and SC does not.

use super::replay::Replay;
use crate::monitor::Weakness;
use rsan_model::{
    CasStrength, EventId, Instr, Label, LocId, Pc, RegId, StaleAccess, ThreadId, Value,
};

/// What an access needs of the older write it goes behind.
struct Need<'a> {
    /// The values that suit; `None` is any.
    values: Option<&'a dyn Fn(Value) -> bool>,
    /// No RMW may follow the write directly, because the access itself will.
    writes: bool,
}

impl Replay<'_> {
    /// Adds the access that the thread is about to make, behind the newest write that suits it.
    pub(super) fn weak_access(
        &mut self,
        thread: ThreadId,
        pc: Pc,
        weakness: Weakness,
    ) -> StaleAccess {
        let instr = self.program.threads[thread.index()].instr(pc);
        self.begin(thread);
        let loc = self.location(thread, instr);
        let stale = self.newest_suitable(thread, instr, loc, weakness);
        let order = self.graph.modification_order(loc);
        let missed = order[order.len() - 1];
        let position = order.iter().position(|&w| w == stale);
        let position = position.expect("the stale write is in its own order");
        let stale_value = self.written(stale);
        // A weak compare-and-swap fails spuriously where it would otherwise write into an RMW's place.
        let spurious = matches!(
            instr,
            Instr::Cas {
                strength: CasStrength::Weak,
                ..
            }
        ) && self.followed_by_rmw(loc, position);
        let label = self.label(thread, instr, loc, stale_value, spurious);
        let access = self.push(thread, pc, label);
        if label.is_read() {
            self.graph.set_rf(access, stale);
        }
        if label.is_write() {
            self.graph.insert_mo(access, loc, position + 1);
        }
        // The weak access is not a step of the SC schedule.
        self.schedule.pop();
        StaleAccess {
            access,
            stale,
            stale_value,
            missed,
        }
    }

    /// Makes a load see the write at this position of the modification order.
    pub(super) fn make_stale(&mut self, load: EventId, position: usize) {
        let Label::Read { loc, ord, .. } = self.graph.label(load) else {
            unreachable!("only loads may be stale");
        };
        let stale = self.graph.modification_order(loc)[position];
        let value = self.written(stale);
        self.graph.set_rf(load, stale);
        self.graph.set_label(load, Label::Read { loc, value, ord });
    }

    /// The stale load whose value is in the register.
    pub(super) fn stale_load(&self, thread: ThreadId, register: RegId) -> StaleAccess {
        let access = self.load_of(thread, register);
        let stale = self.graph.reads_from(access).expect("a load reads");
        let missed = self.latest[access.index()].expect("a load has a location");
        StaleAccess {
            access,
            stale,
            stale_value: self.written(stale),
            missed,
        }
    }

    /// The newest write before the last one that the access can go behind.
    fn newest_suitable(
        &self,
        thread: ThreadId,
        instr: &Instr,
        loc: LocId,
        weakness: Weakness,
    ) -> EventId {
        let order = self.graph.modification_order(loc);
        let suits = |need: Need<'_>| {
            (0..order.len() - 1).rev().find(|&i| {
                let value = self.written(order[i]);
                need.values.is_none_or(|f| f(value))
                    && !(need.writes && self.followed_by_rmw(loc, i))
            })
        };
        let read = Need {
            values: None,
            writes: false,
        };
        let write = Need {
            values: None,
            writes: true,
        };
        let position = match instr {
            Instr::Load { .. } => suits(read),
            Instr::Store { .. } | Instr::Rmw { .. } => suits(write),
            Instr::Wait { values, .. } => {
                let values: Vec<Value> = values.iter().map(|v| self.value(thread, v)).collect();
                suits(Need {
                    values: Some(&|v| values.contains(&v)),
                    writes: false,
                })
            }
            Instr::Bcas { expected, .. } => {
                let expected = self.value(thread, expected);
                suits(Need {
                    values: Some(&|v| v == expected),
                    writes: true,
                })
            }
            Instr::Cas {
                expected, strength, ..
            } => {
                let expected = self.value(thread, expected);
                match (weakness, strength) {
                    (Weakness::Direct, _) => suits(Need {
                        values: Some(&|v| v == expected),
                        writes: true,
                    }),
                    (Weakness::Failing, CasStrength::Weak) => suits(read),
                    (Weakness::Failing, CasStrength::Strong) => suits(Need {
                        values: Some(&|v| v != expected),
                        writes: false,
                    }),
                }
            }
            _ => unreachable!("only atomic accesses are checked"),
        };
        order[position.expect("the monitor has seen a suitable write")]
    }

    fn followed_by_rmw(&self, loc: LocId, position: usize) -> bool {
        let order = self.graph.modification_order(loc);
        order
            .get(position + 1)
            .is_some_and(|&next| self.graph.label(next).is_rmw())
    }

    fn written(&self, write: EventId) -> Value {
        let value = self.graph.label(write).value_written();
        value.expect("modification orders hold writes")
    }
}
