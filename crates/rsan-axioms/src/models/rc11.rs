//! RC11 (Lahav, Vafeiadis, Kang, Hur and Dreyer: Repairing Sequential Consistency in C/C++11, PLDI 2017).
//!
//! ```text
//! rs  = [W] ; po|loc? ; [W_rlx] ; (rf ; [U])*             the C11 release sequence: later stores of the thread too
//! sw  = ([W_rel] ∪ [F_rel];po;[W]) ; rs ; rf ; ([R_acq] ∪ [R];po;[F_acq])
//! hb  = (po ∪ asw ∪ sw)+
//! scb = po ∪ po|≠loc ; hb ; po|≠loc ∪ hb|loc ∪ mo ∪ fr
//! psc_base = ([A_sc] ∪ [F_sc] ∪ [F_sc];hb) ; scb ; ([A_sc] ∪ [F_sc] ∪ hb;[F_sc])
//! psc_F    = [F_sc] ; (hb ∪ hb;eco;hb) ; [F_sc]
//! consistent: hb ; eco? irreflexive, fr ; mo irreflexive, psc_base ∪ psc_F acyclic, po ∪ asw ∪ rf acyclic
//! ```
//!
//! `W_rlx` are the atomic writes. Deviation: an RMW is one event where the paper has a read and a write with
//! `rmw` between them. This needs `eco` irreflexive as an axiom of its own and changes nothing else: whatever
//! follows the read half in `scb`, `hb` or `eco` also follows the write half, and a seq_cst read half is
//! `psc`-before its write half, so joining the halves adds no cycle.

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
    let hb = hb(graph, &r);
    relations::base_axioms(&r, &hb)?;
    Axiom::Psc.unless(psc(graph, &r, &hb).is_acyclic())
}

fn happens_before(graph: &Graph) -> Relation {
    hb(graph, &Relations::of(graph))
}

fn hb(graph: &Graph, r: &Relations) -> Relation {
    relations::hb(r, &relations::sw(graph, r, &rs(graph, r)))
}

fn rs(graph: &Graph, r: &Relations) -> Relation {
    let writes = graph.select(Label::is_write);
    relations::same_loc(graph, &r.po)
        .optional()
        .between(writes, relations::atomic_writes(graph))
        .then(&relations::rmw_chain(graph, &r.rf))
}

fn scb(graph: &Graph, r: &Relations, hb: &Relation) -> Relation {
    let other_loc = r.po.minus(&relations::same_loc(graph, &r.po));
    r.po.union(&other_loc.then(hb).then(&other_loc))
        .union(&relations::same_loc(graph, hb))
        .union(&r.mo)
        .union(&r.fr)
}

fn psc(graph: &Graph, r: &Relations, hb: &Relation) -> Relation {
    let all = graph.select(|_| true);
    let accesses = graph.select(Label::is_sc_access);
    let fences = graph.select(Label::is_sc_fence);
    let sc = accesses.union(fences);
    if sc.is_empty() {
        return Relation::new(graph.len());
    }
    let on_sc = Relation::identity_on(graph.len(), sc);

    let before = on_sc.union(&hb.between(fences, all));
    let after = on_sc.union(&hb.between(all, fences));
    let psc_base = before.then(&scb(graph, r, hb)).then(&after);
    let psc_fence = hb.union(&hb.then(&r.eco).then(hb)).between(fences, fences);
    psc_base.union(&psc_fence)
}
