//! The cycle that makes an execution a violation.

use crate::machine::{Candidate, Communication};
use rsan_model::machine::Machine;
use rsan_model::{Edge, EventId, Relation};

/// A shortest cycle of program order and communication in an execution that `m` forbids.
pub(super) fn forbidden_cycle(execution: &Candidate, m: Machine) -> Vec<(EventId, Edge)> {
    let com = execution.communication();
    let accesses = execution.accesses();
    let po = execution.po.between(accesses, accesses);
    let cycle = match m {
        // x86 keeps all of program order but this, and a thread sees its own writes early.
        Machine::X86 => {
            let kept = po.minus(&po.between(execution.writes(), execution.reads()));
            let seen = com.rfe.union(&com.co).union(&com.fr);
            kept.union(&seen).shortest_cycle()
        }
        Machine::Sc | Machine::Armv8 | Machine::Armv7 | Machine::Riscv | Machine::Power => None,
    };
    let cycle = cycle.or_else(|| po.union(&com.com()).shortest_cycle());
    label(&cycle.unwrap_or_default(), &po, &com)
}

fn label(cycle: &[EventId], po: &Relation, com: &Communication) -> Vec<(EventId, Edge)> {
    let next = cycle.iter().cycle().skip(1);
    cycle
        .iter()
        .zip(next)
        .map(|(&from, &to)| {
            let edge = if po.contains(from, to) {
                Edge::Po
            } else if com.rf.contains(from, to) {
                Edge::Rf
            } else if com.co.contains(from, to) {
                Edge::Mo
            } else {
                debug_assert!(com.fr.contains(from, to));
                Edge::Fr
            };
            (from, edge)
        })
        .collect()
}
