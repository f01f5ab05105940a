//! The executions that an engine of weak executions must show, by the axioms.

use super::{Name, Outcome};
use rsan_axioms::{Error, Execution, Limits, psc};
use rsan_model::{EventId, Graph, Label, LocId, Model, Program};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// The complete executions of a program under C++20.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// Those of the fragment that is executed.
    pub inside: HashSet<Outcome>,
    /// The others: S contradicts `po ∪ asw ∪ rf`.
    pub outside: HashSet<Outcome>,
    /// Some have a data race.
    pub racy: bool,
    /// This is not all of them.
    pub cut: bool,
}

/// What the axioms allow.
///
/// # Errors
/// As [`rsan_axioms::executions`].
pub fn expected(program: &Program, limits: &Limits) -> Result<Expected, Error> {
    let mut found = Expected::default();
    let summary = rsan_axioms::executions(program, Model::C20, limits, &mut |execution| {
        let outcome = outcome(execution);
        found.racy |= execution.racy;
        match is_inside(execution.graph) {
            true => found.inside.insert(outcome),
            false => found.outside.insert(outcome),
        };
        ControlFlow::Continue(())
    })?;
    found.cut = summary.cut.reason(limits).is_some();
    Ok(found)
}

/// Whether a consistent graph has an order S that agrees with `po ∪ asw ∪ rf`.
fn is_inside(graph: &Graph) -> bool {
    let executed = graph.po().union(&graph.asw()).union(&graph.rf());
    executed.union(&psc(graph)).is_acyclic()
}

/// Whether an event counts in the names of events: those of creation and join do not.
fn is_named(label: Label) -> bool {
    label.loc().is_some() || label.is_fence()
}

fn name(graph: &Graph, event: EventId) -> Name {
    let Some(thread) = graph.event(event).thread else {
        return Name::default();
    };
    let before = |e: &EventId| {
        *e < event && graph.event(*e).thread == Some(thread) && is_named(graph.label(*e))
    };
    Name(thread.0 + 1, graph.ids().filter(before).count() as u32)
}

fn outcome(execution: &Execution) -> Outcome {
    let graph = execution.graph;
    let mut events = vec![Vec::new(); execution.stops.len()];
    for e in graph.ids() {
        if let Some(thread) = graph.event(e).thread
            && is_named(graph.label(e))
        {
            let source = graph.reads_from(e).map(|write| name(graph, write));
            events[thread.index()].push((graph.label(e), source));
        }
    }
    let locations = (0..graph.locations()).map(LocId::new);
    let order = |loc| {
        let writes = graph.modification_order(loc).iter();
        writes.map(|w| name(graph, *w)).collect()
    };
    Outcome {
        events,
        writes: locations.clone().map(order).collect(),
        memory: locations.map(|loc| execution.memory(loc)).collect(),
        registers: execution.registers.to_vec(),
        stops: execution.stops.to_vec(),
    }
}
