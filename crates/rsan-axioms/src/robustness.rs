//! Robustness and data races by enumeration: the yardstick for the monitors and the verifier.
//!
//! A program is robust against a model when every consistent graph of every prefix of it is sequentially
//! consistent (docs/theory/model.md, M8). Graphs are built event by event, and each consistent one is looked
//! at, so a violation is found with the event that makes it. Not every prefix graph is built (a lower-numbered
//! thread goes first), but each extends to one that is: a new event that reads or comes after the last write in
//! `mo` has no outgoing edge, so it is always consistent, and it never removes a cycle.

use crate::enumerate::{Visitor, enumerate};
use crate::{Error, Execution, Limits, races, sc_order};
use rsan_model::{Graph, Model, Pc, Program, Reason, ThreadId};
use std::ops::ControlFlow;

/// What enumeration says about a program.
///
/// The search ends with the first non-SC graph, so the other fields are then about the graphs up to it. When
/// `robust` is set and `cut` is not, all graphs were looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// No consistent graph that was built is non-SC.
    pub robust: bool,
    /// Some consistent graph that was built has a data race.
    pub racy: bool,
    /// An assertion failed in some consistent graph that was built.
    pub assertion_failed: bool,
    /// Number of complete SC graphs that were built. Under RC20 and RA the order of the SC fences is part of a
    /// graph.
    pub sc_graphs: u64,
    /// A consistent non-SC graph; its last event closes the cycle.
    pub witness: Option<Graph>,
    /// Why this is not everything, if it is not.
    pub cut: Option<Reason>,
}

/// Whether `program` is robust against `model`.
///
/// # Errors
/// As [`crate::executions`].
pub fn robustness(program: &Program, model: Model, limits: &Limits) -> Result<Answer, Error> {
    let mut search = Search {
        model,
        racy: false,
        assertion_failed: false,
        witness: None,
    };
    let summary = enumerate(program, model, limits, &mut search)?;
    Ok(Answer {
        robust: search.witness.is_none(),
        racy: search.racy,
        assertion_failed: search.assertion_failed,
        sc_graphs: summary.executions,
        witness: search.witness,
        cut: summary.cut.reason(limits),
    })
}

struct Search {
    model: Model,
    racy: bool,
    assertion_failed: bool,
    witness: Option<Graph>,
}

impl Visitor for Search {
    fn prefix(&mut self, graph: &Graph) -> ControlFlow<()> {
        self.racy = self.racy || !races(self.model, graph).is_empty();
        if sc_order(self.model, graph).is_acyclic() {
            return ControlFlow::Continue(());
        }
        self.witness = Some(graph.clone());
        ControlFlow::Break(())
    }

    fn assertion_failed(&mut self, _thread: ThreadId, _pc: Pc) -> ControlFlow<()> {
        self.assertion_failed = true;
        ControlFlow::Continue(())
    }

    fn complete(&mut self, _execution: &Execution) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
