//! Which machines can show what was found.
//!
//! **Decides** for each kind of processor whether it can show the cycle of a finding: the accesses of the cycle, with all that is known
//! to stand between them in their threads, are a program ([`Shape`]); it is compiled as compilers do (`rsan-mapping`), and
//! the oracle (`rsan-axioms`) is asked for an execution in which the memory orders the accesses as the cycle does. Nothing is guessed:
//! what the oracle does not decide within [`GRAPHS`] and [`LOOKS`] is unknown. Of a witness of the verifier everything is known, so the question is
//! whether the machine allows that execution ([`exact`]).
//!
//! **Deviations**: dependencies of C programs that are run are not known, so none is taken to be there.
//!
//! **Cost**: equal shapes are asked once.

mod exact;
mod shape;
mod witness;

pub(crate) use shape::{Act, At, Order, Shape, Step, straight_line};

use rsan_axioms::Limits;
use rsan_axioms::machine::{Candidate, Event, executions_until};
use rsan_mapping::{Rmws, Target, compile};
use rsan_model::machine::Machine;
use rsan_model::{EventId, Program, Reason, Witness};
use rsan_report::document::{OnMachine, Shows, Variant};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Graphs after which the oracle gives up.
const GRAPHS: u64 = 20_000;

/// Looks at the limits after which the oracle gives up: with many threads it puts together many choices that are no graph.
/// A count, and no time, so that the answer is always the same.
const LOOKS: u32 = 400;

/// Ways in which the threads of a shape may read, after which the oracle is not asked.
const WAYS: u64 = 5_000;

/// The machines, in the order in which they are named.
const MACHINES: [Machine; 5] = [
    Machine::X86,
    Machine::Armv8,
    Machine::Riscv,
    Machine::Power,
    Machine::Armv7,
];

/// What is known of a cycle: its shape if nothing else orders the accesses, and the same with all in it that might be there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Cycle {
    pub(crate) weakest: Shape,
    /// `None` if it is the same.
    pub(crate) strongest: Option<Shape>,
}

/// Answers, by what was asked.
#[derive(Debug, Default)]
pub(crate) struct Machines {
    known: HashMap<Cycle, Vec<OnMachine>>,
}

impl Machines {
    /// Which machines can show a cycle.
    pub(crate) fn of(&mut self, cycle: Cycle) -> Vec<OnMachine> {
        let cycle = Cycle {
            weakest: cycle.weakest.normal(),
            strongest: cycle.strongest.map(Shape::normal),
        };
        if let Some(known) = self.known.get(&cycle) {
            return known.clone();
        }
        let answer = on_each(&|target| shows(target, &cycle));
        self.known.insert(cycle, answer.clone());
        answer
    }
}

/// Which machines can show the execution of a witness; none if it is sequentially consistent.
pub(crate) fn of_witness(program: &Program, witness: &Witness) -> Vec<OnMachine> {
    let Some(execution) = witness::execution(program, witness) else {
        return Vec::new();
    };
    let execution = execution.normal();
    on_each(&|target| exact::shows(target, &execution))
}

/// The answer for each machine; and with other instructions, if that is another one.
fn on_each(shows: &dyn Fn(&Target) -> Shows) -> Vec<OnMachine> {
    let mut answers = Vec::new();
    for machine in MACHINES {
        let usual = Target::new(machine);
        let first = shows(&usual);
        answers.push(OnMachine {
            machine,
            variant: None,
            shows: first,
        });
        for (variant, target) in variants(usual) {
            let shows = shows(&target);
            if shows != first {
                answers.push(OnMachine {
                    machine,
                    variant: Some(variant),
                    shows,
                });
            }
        }
    }
    answers
}

/// The same machine with other instructions.
fn variants(usual: Target) -> Vec<(Variant, Target)> {
    if usual.machine != Machine::Armv8 {
        return Vec::new();
    }
    let ldapr = Target {
        rcpc: true,
        ..usual
    };
    let lse = Target {
        rmws: Rmws::Instructions,
        ..usual
    };
    vec![(Variant::Ldapr, ldapr), (Variant::Lse, lse)]
}

fn shows(target: &Target, cycle: &Cycle) -> Shows {
    let weakest = find(target, &cycle.weakest);
    match (&cycle.strongest, weakest) {
        (None, _) | (_, Shows::No) => weakest,
        (Some(strongest), _) => match find(target, strongest) {
            Shows::Yes => Shows::Yes,
            Shows::No | Shows::Unknown => Shows::Unknown,
        },
    }
}

/// Whether the machine has an execution of the shape.
fn find(target: &Target, shape: &Shape) -> Shows {
    if shape.ways() > WAYS {
        return Shows::Unknown;
    }
    let Ok(program) = compile(&shape.program(), target) else {
        return Shows::Unknown;
    };
    let limits = Limits {
        max_graphs: GRAPHS,
        ..Limits::default()
    };
    let mut found = false;
    let mut visit = |candidate: &Candidate| {
        found = is_wanted(candidate, shape);
        match found {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let mut looks = 0;
    let mut halt = |_memory| {
        looks += 1;
        (looks > LOOKS).then_some(Reason::Interrupted)
    };
    let summary = executions_until(&program, target.machine, &limits, &mut halt, &mut visit);
    match summary {
        Ok(_) if found => Shows::Yes,
        Ok(summary) if !summary.stopped && summary.cut.reason(&limits).is_none() => Shows::No,
        Ok(_) | Err(_) => Shows::Unknown,
    }
}

/// Whether the memory orders the accesses as it should.
fn is_wanted(candidate: &Candidate, shape: &Shape) -> bool {
    let event = |(thread, step): At, is: fn(&Event) -> bool| -> Option<EventId> {
        let own = |event: &Event| {
            let thread_of = event.thread.map(rsan_model::ThreadId::index);
            thread_of == Some(thread) && event.origin as usize == step && is(event)
        };
        candidate.events.iter().position(own).map(EventId::new)
    };
    shape.wanted.iter().all(|(from, order, to)| {
        let ends = match order {
            Order::Rf => (event(*from, Event::is_write), event(*to, Event::is_read)),
            Order::Mo => (event(*from, Event::is_write), event(*to, Event::is_write)),
            Order::Fr => (event(*from, Event::is_read), event(*to, Event::is_write)),
        };
        let (Some(from), Some(to)) = ends else {
            return false;
        };
        match order {
            Order::Rf => candidate.rf.contains(from, to),
            Order::Mo => candidate.co.contains(from, to),
            Order::Fr => {
                let mut sources = candidate.rf.pairs().filter(|(_, read)| *read == from);
                sources.any(|(write, _)| candidate.co.contains(write, to))
            }
        }
    })
}

#[cfg(test)]
mod tests;
