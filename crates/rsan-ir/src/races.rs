//! Programs without data races: their plain accesses are on no cycle of their own.
//!
//! *Decides*: which accesses count if the program has no data race (docs/theory/port.md, P6). What synchronises plain accesses must be in the
//! graph then: atomic accesses, volatile ones, and locks. If other functions of a library synchronise, the answer is no proof.

use crate::alias::{Effect, effect};
use crate::flow::Graph;
use crate::module::{Callee, Module, Op, Order};
use crate::order::Part;
use crate::port::Assumption;
use rsan_model::machine::Machine;
use std::collections::BTreeSet;

/// Leaves out plain accesses.
pub(crate) fn leave_out(module: &Module, graph: &mut Graph, to: Machine) {
    for event in &mut graph.events {
        let is_lock = matches!(event.operation.part, Part::Lock | Part::Unlock);
        if event.operation.order == Order::Plain && !event.volatile && !is_lock {
            event.live = false;
        }
    }
    let mut said = BTreeSet::new();
    let functions = module.functions.iter();
    for instr in functions.flat_map(|f| &f.blocks).flat_map(|b| &b.instrs) {
        let Op::Call {
            callee: Callee::Direct(callee),
            ..
        } = &instr.op
        else {
            continue;
        };
        let callee = &module.functions[callee.index()];
        let synchronises = match effect(&callee.name) {
            Effect::Harmless => synchronises(&callee.name),
            // Locks are no events there.
            Effect::Locks | Effect::Unlocks => to == Machine::Power,
            _ => false,
        };
        if callee.blocks.is_empty() && synchronises && said.insert(&callee.name) {
            graph.assumptions.push(Assumption {
                message: format!(
                    "`{}` may be what keeps the program free of data races: how it orders accesses is not followed",
                    callee.title
                ),
                place: instr.place,
                unsound: true,
            });
        }
    }
}

/// Whether a function that is harmless otherwise may order accesses of several threads.
fn synchronises(name: &str) -> bool {
    let families = ["pthread_barrier_", "pthread_rwlock_", "sem_"];
    families.iter().any(|family| name.starts_with(family))
        || name.ends_with("trylock")
        || name.ends_with("timedlock")
}
