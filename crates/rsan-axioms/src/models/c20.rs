//! C++20: RC20's base axioms with seq_cst as in \[atomics.order\] p4, as in docs/theory/model.md, M6.
//!
//! ```text
//! rs, sw, hb and the base axioms as in RC20, without the reserved location
//! SC    = A_sc ∪ F_sc                                    seq_cst accesses and fences
//! shb   = (po ∪ [SC];sw;[SC] ∪ po;hb;po)+                strongly happens before
//! psc20 = [SC];shb;[SC] ∪ ([A_sc] ∪ [F_sc];hb) ; eco ; ([A_sc] ∪ hb;[F_sc])
//! consistent: the base axioms, and psc20 acyclic
//! ```
//!
//! The order S of p4 exists exactly when `psc20` is acyclic. Thread creation and join are in `hb` only;
//! `po;hb;po` brings them into `shb`.
//!
//! Deviation: `po ∪ asw ∪ rf` is acyclic, where the standard forbids out-of-thin-air values in prose.

use super::Rules;
use crate::{Axiom, Relations, relations};
use rsan_model::{Graph, Label, Relation};

pub(super) const RULES: Rules = Rules {
    consistent,
    happens_before,
    sc_order: Graph::sc_order,
    fences_are_ordered: false,
    failed_cas_is_locked: false,
};

fn consistent(graph: &Graph) -> Result<(), Axiom> {
    let r = Relations::of(graph);
    let sw = relations::sw(graph, &r, &relations::rs(graph, &r));
    let hb = relations::hb(&r, &sw);
    relations::base_axioms(&r, &hb)?;
    Axiom::Psc.unless(psc20(graph, &r, &sw, &hb).is_acyclic())
}

pub(super) fn happens_before(graph: &Graph) -> Relation {
    let r = Relations::of(graph);
    relations::hb(&r, &relations::sw(graph, &r, &relations::rs(graph, &r)))
}

pub(crate) fn psc(graph: &Graph) -> Relation {
    let r = Relations::of(graph);
    let sw = relations::sw(graph, &r, &relations::rs(graph, &r));
    psc20(graph, &r, &sw, &relations::hb(&r, &sw))
}

fn psc20(graph: &Graph, r: &Relations, sw: &Relation, hb: &Relation) -> Relation {
    let all = graph.select(|_| true);
    let accesses = graph.select(Label::is_sc_access);
    let fences = graph.select(Label::is_sc_fence);
    let sc = accesses.union(fences);
    if sc.is_empty() {
        return Relation::new(graph.len());
    }
    let on_accesses = Relation::identity_on(graph.len(), accesses);

    let shb =
        r.po.union(&sw.between(sc, sc))
            .union(&r.po.then(hb).then(&r.po))
            .plus();
    let before = on_accesses.union(&hb.between(fences, all));
    let after = on_accesses.union(&hb.between(all, fences));
    shb.between(sc, sc).union(&before.then(&r.eco).then(&after))
}
