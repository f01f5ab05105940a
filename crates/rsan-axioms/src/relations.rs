//! Relations on the events of a graph that several models share, each computed from its definition.
//!
//! Sources: docs/theory/model.md, M2 to M4 (RC20 and C++20); Lahav et al., PLDI 2017 (RC11); the models differ only
//! in their release sequence `rs`, which is why [`sw`] takes it as an argument.

use crate::Axiom;
use rsan_model::{EventId, EventSet, Graph, Label, Relation};

/// The base relations of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relations {
    /// Program order; initial writes come before every event of a thread. Does not contain `asw`.
    pub po: Relation,
    /// Thread creation and join.
    pub asw: Relation,
    /// Reads-from.
    pub rf: Relation,
    /// Modification order.
    pub mo: Relation,
    /// `(rf⁻¹ ; mo) \ id`
    pub fr: Relation,
    /// `(rf ∪ mo ∪ fr)+`
    pub eco: Relation,
}

impl Relations {
    /// The base relations of `graph`.
    pub fn of(graph: &Graph) -> Self {
        let (rf, mo) = (graph.rf(), graph.mo());
        let everything = graph.select(|_| true);
        let identity = Relation::identity_on(graph.len(), everything);
        let fr = rf.inverse().then(&mo).minus(&identity);
        Self {
            po: graph.po(),
            asw: graph.asw(),
            eco: rf.union(&mo).union(&fr).plus(),
            rf,
            mo,
            fr,
        }
    }

    /// `po ∪ asw ∪ rf ∪ mo ∪ fr`, whose closure is hbSC.
    pub fn sc_order(&self) -> Relation {
        self.po
            .union(&self.asw)
            .union(&self.rf)
            .union(&self.mo)
            .union(&self.fr)
    }
}

/// Atomic writes, RMWs included.
pub fn atomic_writes(graph: &Graph) -> EventSet {
    graph.select(|l| matches!(l, Label::Write { .. } | Label::Rmw { .. }))
}

/// Atomic reads, RMWs included.
pub fn atomic_reads(graph: &Graph) -> EventSet {
    graph.select(|l| matches!(l, Label::Read { .. } | Label::Rmw { .. }))
}

/// The pairs of `r` whose two events access one location.
pub fn same_loc(graph: &Graph, r: &Relation) -> Relation {
    let mut same = Relation::new(r.size());
    r.pairs()
        .filter(|&(a, b)| {
            let (a, b) = (graph.label(a).loc(), graph.label(b).loc());
            a.is_some() && a == b
        })
        .for_each(|(a, b)| same.add(a, b));
    same
}

/// `(rf ; [U])*`: how a release sequence goes on through RMWs of any thread.
pub fn rmw_chain(graph: &Graph, rf: &Relation) -> Relation {
    rf.between(graph.select(|_| true), graph.select(Label::is_rmw))
        .star()
}

/// The release sequence of C++20 and RC20: `rs = [W] ; (rf ; [U])*`.
pub fn rs(graph: &Graph, r: &Relations) -> Relation {
    rmw_chain(graph, &r.rf).between(atomic_writes(graph), graph.select(|_| true))
}

/// Synchronises-with:
/// `sw = ([W_rel] ∪ [F_rel];po;[W]) ; rs ; rf ; ([R_acq] ∪ [R];po;[F_acq])`.
pub fn sw(graph: &Graph, r: &Relations, rs: &Relation) -> Relation {
    let (writes, reads) = (atomic_writes(graph), atomic_reads(graph));
    let releases = graph.select(Label::releases);
    let acquires = graph.select(Label::acquires);
    let fences = graph.select(Label::is_fence);
    let on = |set| Relation::identity_on(graph.len(), set);

    let release =
        on(writes.intersect(releases)).union(&r.po.between(fences.intersect(releases), writes));
    let acquire =
        on(reads.intersect(acquires)).union(&r.po.between(reads, fences.intersect(acquires)));
    release.then(rs).then(&r.rf).then(&acquire)
}

/// Happens-before: `hb = (po ∪ asw ∪ sw)+`.
pub fn hb(r: &Relations, sw: &Relation) -> Relation {
    r.po.union(&r.asw).union(sw).plus()
}

/// The axioms that RC20, C++20 and RC11 have in common.
///
/// # Errors
/// The first axiom that is violated.
pub fn base_axioms(r: &Relations, hb: &Relation) -> Result<(), Axiom> {
    Axiom::NoThinAir.unless(r.po.union(&r.asw).union(&r.rf).is_acyclic())?;
    Axiom::Coherence.unless(hb.then(&r.eco.optional()).is_irreflexive())?;
    Axiom::Eco.unless(r.eco.is_irreflexive())?;
    atomicity(r)
}

/// `fr ; mo` is irreflexive.
///
/// # Errors
/// When it is not.
pub fn atomicity(r: &Relations) -> Result<(), Axiom> {
    Axiom::Atomicity.unless(r.fr.then(&r.mo).is_irreflexive())
}

/// The pairs of conflicting accesses of different threads, at least one non-atomic, that `hb` does not order
/// (docs/theory/races.md, D1).
pub fn races(graph: &Graph, hb: &Relation) -> Vec<(EventId, EventId)> {
    let race = |a: EventId, b: EventId| {
        let (la, lb) = (graph.label(a), graph.label(b));
        let (ta, tb) = (graph.event(a).thread, graph.event(b).thread);
        la.loc().is_some()
            && la.loc() == lb.loc()
            && ta.is_some()
            && tb.is_some()
            && ta != tb
            && (la.is_write() || lb.is_write())
            && (la.is_plain() || lb.is_plain())
            && !hb.contains(a, b)
            && !hb.contains(b, a)
    };
    graph
        .ids()
        .flat_map(|b| (0..b.0).map(move |a| (EventId(a), b)))
        .filter(|&(a, b)| race(a, b))
        .collect()
}
