//! Sequential consistency (Lamport 1979; Shasha and Snir 1988): there is a total order of all events that
//! explains every read, i.e. `hbSC = (po ∪ asw ∪ rf ∪ mo ∪ fr)+` is irreflexive, and RMWs are atomic.
//!
//! See docs/theory/model.md, M7. Orders and fences have no effect. Data races are those of C++20's happens-before.

use super::{Rules, c20};
use crate::{Axiom, Relations, relations};
use rsan_model::Graph;

pub(super) const RULES: Rules = Rules {
    consistent,
    happens_before: c20::happens_before,
    sc_order: Graph::sc_order,
    fences_are_ordered: false,
    failed_cas_is_locked: false,
};

fn consistent(graph: &Graph) -> Result<(), Axiom> {
    let r = Relations::of(graph);
    Axiom::SequentialConsistency.unless(r.sc_order().is_acyclic())?;
    relations::atomicity(&r)
}
