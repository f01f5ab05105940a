//! Memory models as predicates on execution graphs, and the exhaustive oracle.
//!
//! Each of SC, x86-TSO, RA, RC20, C++20 and RC11 is one module that transcribes the published axioms;
//! [`consistent`] asks whether a graph satisfies them, [`executions`] enumerates the consistent complete
//! graphs of a program, and [`outcomes`] and [`robustness`] summarise them.
//!
//! [`machine`] has the same for processors: SC, x86, ARMv8, ARMv7, RISC-V and Power.
//!
//! This crate is what the fast engines are tested against. It shares only `rsan-model` with them: it knows
//! no clocks and no syntax, computes every relation from its definition, and does no I/O.
//!
//! # Notation
//!
//! | symbol | here | meaning |
//! |---|---|---|
//! | `po rf mo fr eco` | [`Relations`] | program order (initial writes first), reads-from, modification order, from-read, `(rf ∪ mo ∪ fr)+` |
//! | `asw` | [`Relations`] | thread creation and join |
//! | `rs sw hb` | [`relations`], [`happens_before`] | release sequence, synchronises-with, `(po ∪ asw ∪ sw)+` |
//! | `hbSC` | closure of [`sc_order`] | what a sequentially consistent order has to respect |
//! | `psc` | `c20`, `rc11` | what the order of seq_cst operations has to respect |
//! | `f` | `rc20` | the reserved location that SC fences update under RC20 and RA |
//!
//! Plain accesses are events weaker than relaxed: coherence applies to them, they never synchronise.

mod axiom;
mod enumerate;
mod limits;
pub mod machine;
mod models;
mod outcomes;
pub mod port;
pub mod relations;
mod robustness;

pub use axiom::Axiom;
pub use enumerate::{Execution, Stop, executions};
pub use limits::{Cut, Error, Limits, Summary};
pub use outcomes::{ConditionResult, FinalState, Outcomes, outcomes, outcomes_until};
pub use relations::Relations;
pub use robustness::{Answer, robustness};

use models::Rules;
use rsan_model::{EventId, Graph, Model, Relation};

/// Whether `graph` satisfies the axioms of `model`.
///
/// Under RC20 and RA the SC fences update the reserved location `f` in the order of their event ids (every
/// consistent graph can be numbered so, because `po ∪ rf` is acyclic and contains `f`'s `rf`), and seq_cst
/// accesses count as acquire/release; the enumerating functions refuse them instead.
///
/// # Errors
/// The first axiom that is violated.
pub fn consistent(model: Model, graph: &Graph) -> Result<(), Axiom> {
    (Rules::of(model).consistent)(graph)
}

/// Happens-before as `model` defines it. SC and TSO have none of their own and take C++20's.
pub fn happens_before(model: Model, graph: &Graph) -> Relation {
    (Rules::of(model).happens_before)(graph)
}

/// The relation whose cycles make a graph of `model` non-SC: `po ∪ asw ∪ rf ∪ mo ∪ fr`, not closed, with
/// the accesses of SC fences to `f` under RC20 and RA.
pub fn sc_order(model: Model, graph: &Graph) -> Relation {
    (Rules::of(model).sc_order)(graph)
}

/// What C++20's order of the seq_cst events of a graph has to respect: `psc20`, not closed.
pub fn psc(graph: &Graph) -> Relation {
    models::c20::psc(graph)
}

/// The data races of a graph: pairs of accesses of one location by different threads, one of them a write,
/// at least one of them non-atomic, that happens-before does not order.
pub fn races(model: Model, graph: &Graph) -> Vec<(EventId, EventId)> {
    if graph.select(|l| l.is_plain()).is_empty() {
        return Vec::new();
    }
    relations::races(graph, &happens_before(model, graph))
}
