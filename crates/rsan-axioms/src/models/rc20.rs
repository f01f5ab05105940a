//! RC20 (Rocker, POPL 2021; RSAN, PLDI 2025), as in docs/theory/model.md, M3 to M5.
//!
//! ```text
//! rs = [W] ; (rf ; [U])*
//! sw = ([W_rel] ∪ [F_rel];po;[W]) ; rs ; rf ; ([R_acq] ∪ [R];po;[F_acq])
//! hb = (po ∪ asw ∪ sw)+
//! consistent: po ∪ asw ∪ rf acyclic, hb ; eco? irreflexive, eco irreflexive, fr ; mo irreflexive
//! ```
//!
//! An SC fence is one event that is an acquire fence, then an acquire-release RMW of the reserved location
//! `f`, then a release fence (in this order: docs/theory/model.md, M5). `f` is written by such RMWs only, so it needs no
//! events of its own. Let `F1 .. Fn` be the SC fences in their order on `f`, which is the order of their ids:
//!
//! * `mo` on `f` is that total order, and `rf` on `f` goes from each to the next;
//! * `fr` on `f` is `rf⁻¹ ; mo \ id`, again that total order;
//! * `rs` of each reaches all the later ones, each is a release and an acquire, so `sw` on `f` is that total
//!   order as well. Other fences next to an SC fence add no `sw` edge through `f` that `po` with this does not.
//!
//! Deviation: `eco` irreflexive is an axiom of its own because an RMW is a single event here. seq_cst accesses
//! are not part of the model; on a graph that has some they count as acquire/release.

use super::Rules;
use crate::{Axiom, Relations, relations};
use rsan_model::{EventId, Graph, Label, Relation};

pub(super) const RULES: Rules = Rules {
    consistent,
    happens_before,
    sc_order,
    fences_are_ordered: true,
    failed_cas_is_locked: false,
};

pub(super) fn consistent(graph: &Graph) -> Result<(), Axiom> {
    let r = relations_with_f(graph);
    relations::base_axioms(&r, &hb(graph, &r))
}

pub(super) fn happens_before(graph: &Graph) -> Relation {
    hb(graph, &relations_with_f(graph))
}

pub(super) fn sc_order(graph: &Graph) -> Relation {
    relations_with_f(graph).sc_order()
}

fn hb(graph: &Graph, r: &Relations) -> Relation {
    let sw = relations::sw(graph, r, &relations::rs(graph, r)).union(&fence_order(graph));
    relations::hb(r, &sw)
}

/// The base relations, with what the SC fences do on `f`.
fn relations_with_f(graph: &Graph) -> Relations {
    let mut r = Relations::of(graph);
    let order = fence_order(graph);
    r.rf = r.rf.union(&adjacent(&order));
    r.mo = r.mo.union(&order);
    r.fr = r.fr.union(&order);
    r.eco = r.eco.union(&order);
    r
}

/// The total order of the SC fences, by id.
fn fence_order(graph: &Graph) -> Relation {
    let mut order = Relation::new(graph.len());
    let fences: Vec<EventId> = graph.select(Label::is_sc_fence).iter().collect();
    for (i, &a) in fences.iter().enumerate() {
        fences[i + 1..].iter().for_each(|&b| order.add(a, b));
    }
    order
}

/// A total order without what follows by transitivity.
fn adjacent(order: &Relation) -> Relation {
    order.minus(&order.then(order))
}
