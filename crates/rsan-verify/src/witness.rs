//! A failing schedule, replayed and explained.

use crate::search::{Problem, Search};
use crate::store::StateId;
use rsan_model::{Fault, Graph, Model, Witness};

/// Explains why the state (or the initial one) fails.
pub(crate) fn explain<const W: usize>(
    search: &Search<'_, '_, W>,
    _model: Model,
    state: Option<StateId>,
    problem: &Problem,
) -> Witness {
    let _ = (search, state);
    let fault = match problem {
        Problem::Deadlock(blocked) => Fault::Deadlock {
            blocked: blocked.clone(),
        },
        Problem::Step(f) => Fault::Assertion {
            thread: f.thread,
            pc: f.pc,
        },
    };
    Witness {
        fault,
        schedule: vec![],
        graph: Graph::default(),
        cycle: vec![],
    }
}
