//! x86-TSO (Owens, Sarkar and Sewell, TPHOLs 2009), in the axiomatic form of Alglave, Maranget and
//! Tautschnig (Herding cats, TOPLAS 2014; herd's `x86tso.cat`).
//!
//! ```text
//! ppo     = [M];po;[M] without (W \ locked) × (R \ locked)     only a store and a later load may swap
//! mfence  = [M];po;[F_sc];po;[M]
//! ghb     = ppo ∪ mfence ∪ asw ∪ rfe ∪ mo ∪ fr
//! consistent: po|loc ∪ rf ∪ mo ∪ fr acyclic, fr ; mo irreflexive, ghb acyclic
//! ```
//!
//! C maps to x86 as compilers do it: RMWs are locked; a seq_cst store is `xchg`, hence locked; a seq_cst fence
//! is `mfence`; all other accesses are `mov` and all other fences nothing. A compare-and-swap that fails is a
//! locked instruction too. Its read is a `mov` right after an `mfence` in our graphs (an SC fence event with
//! the same `pc`): that orders exactly what the lock would, because a load is never delayed past what follows.
//!
//! Thread creation: `Spawn` is a locked write and `End` a write, `Begin` and `Join` are the reads that see
//! them, with `asw` as their `rfe`. `po ∪ rf` is acyclic in consistent graphs: a load is never delayed.

use super::{Rules, c20};
use crate::{Axiom, Relations, relations};
use rsan_model::{Graph, Label, Relation, WriteOrd};

pub(super) const RULES: Rules = Rules {
    consistent,
    happens_before: c20::happens_before,
    sc_order: Graph::sc_order,
    fences_are_ordered: false,
    failed_cas_is_locked: true,
};

fn consistent(graph: &Graph) -> Result<(), Axiom> {
    let r = Relations::of(graph);
    let per_location = relations::same_loc(graph, &r.po)
        .union(&r.rf)
        .union(&r.mo)
        .union(&r.fr);
    Axiom::Uniproc.unless(per_location.is_acyclic())?;
    relations::atomicity(&r)?;
    Axiom::GlobalHappensBefore.unless(ghb(graph, &r).is_acyclic())
}

fn ghb(graph: &Graph, r: &Relations) -> Relation {
    let memory = graph.select(|l| !l.is_fence());
    let mfence = graph.select(Label::is_sc_fence);
    let delayed = graph.select(is_unlocked_write);
    let early = graph.select(is_unlocked_read);

    let po = r.po.between(memory, memory);
    let ppo = po.minus(&po.between(delayed, early));
    let fenced =
        r.po.between(memory, mfence)
            .then(&r.po.between(mfence, memory));
    ppo.union(&fenced)
        .union(&r.asw)
        .union(&external(graph, &r.rf))
        .union(&r.mo)
        .union(&r.fr)
}

fn is_unlocked_write(label: Label) -> bool {
    match label {
        Label::Write { ord, .. } => ord != WriteOrd::SeqCst,
        Label::PlainWrite { .. } | Label::End => true,
        _ => false,
    }
}

fn is_unlocked_read(label: Label) -> bool {
    matches!(
        label,
        Label::Read { .. } | Label::PlainRead { .. } | Label::Begin | Label::Join(_)
    )
}

/// The pairs whose events belong to different threads.
fn external(graph: &Graph, r: &Relation) -> Relation {
    let mut external = Relation::new(r.size());
    r.pairs()
        .filter(|&(a, b)| graph.event(a).thread != graph.event(b).thread)
        .for_each(|(a, b)| external.add(a, b));
    external
}
