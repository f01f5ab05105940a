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
pub(crate) fn leave_out(graph: &mut Graph) {
    for event in &mut graph.events {
        let is_lock = matches!(event.operation.part, Part::Lock | Part::Unlock);
        if event.operation.order == Order::Plain && !event.volatile && !is_lock {
            event.live = false;
        }
    }
}

/// Notes functions of libraries that order accesses of several threads in a way that is not followed.
pub(crate) fn not_followed(module: &Module, graph: &mut Graph, to: Machine, race_free: bool) {
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
        let orders = match effect(&callee.name) {
            Effect::Harmless if race_free => synchronises(&callee.name),
            Effect::Harmless => waits(&callee.name),
            // Locks are no events there.
            Effect::Locks | Effect::Unlocks => race_free && to == Machine::Power,
            _ => false,
        };
        if callee.blocks.is_empty() && orders && said.insert(&callee.name) {
            let title = &callee.title;
            let message = match race_free {
                true => format!(
                    "`{title}` may be what keeps the program free of data races: how it orders accesses is not followed"
                ),
                false => format!(
                    "`{title}` tells a thread how far another one is: how it orders accesses is not followed"
                ),
            };
            graph.assumptions.push(Assumption {
                message,
                place: instr.place,
                unsound: true,
            });
        }
    }
}

/// Whether a function that is harmless otherwise may order accesses of several threads.
fn synchronises(name: &str) -> bool {
    let families = ["pthread_barrier_", "pthread_rwlock_", "sem_"];
    families.iter().any(|family| name.starts_with(family)) || waits(name)
}

/// Whether a thread learns by it what another one has done. By a lock alone it does not: only by what the lock protects, whose accesses are
/// in the graph.
fn waits(name: &str) -> bool {
    name == "pthread_barrier_wait"
        || name.starts_with("sem_") && (name.contains("wait") || name == "sem_getvalue")
        || name.ends_with("trylock")
        || name.ends_with("timedlock")
}
