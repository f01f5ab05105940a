//! What ARMv7 and Power have in common (Alglave, Maranget and Tautschnig, Herding cats, TOPLAS 2014, figures 5, 18 and 25): writes
//! reach other threads one by one, and fences are cumulative.
//!
//! ```text
//! rdw      = po|loc ∩ (fre ; rfe)          detour = po|loc ∩ (coe ; rfe)
//! ii0      = addr ∪ data ∪ rdw ∪ rfi       an access is started before another
//! ci0      = ctrl+isync ∪ detour           committed before the other is started
//! cc0      = the architecture's            committed before the other is committed
//! ii       = ii0 ∪ ci ∪ ic;ci ∪ ii;ii
//! ic       = ii ∪ cc ∪ ic;cc ∪ ii;ic
//! ci       = ci0 ∪ ci;ii ∪ cc;ci
//! cc       = cc0 ∪ ci ∪ ci;ic ∪ cc;cc      (the least solution)
//! ppo      = [R];ii;[R] ∪ [R];ic;[W]
//! hb       = ppo ∪ fence ∪ rfe
//! base     = (fence ∪ rfe;fence) ; hb*
//! prop     = [W];base;[W] ∪ com*;base*;full;hb*
//! consistent: hb acyclic, fre;prop;hb* irreflexive, co ∪ prop acyclic
//! ```
//!
//! `fence` are the pairs that a fence orders, `full` those of the strong fences; `ctrl+isync` is `ctrl;[isync];po` (`isb` on Arm).

use super::{Candidate, Communication};
use crate::Axiom;
use rsan_model::machine::Fence;
use rsan_model::{EventSet, Relation};

/// What follows from the threads.
pub(super) struct Local {
    /// `addr ∪ data`
    pub(super) value: Relation,
    pub(super) ctrl_isync: Relation,
    pub(super) cc0: Relation,
    pub(super) po_loc: Relation,
    /// All pairs that fences order.
    pub(super) fence: Relation,
    /// Those of strong fences.
    pub(super) full: Relation,
    pub(super) reads: EventSet,
    pub(super) writes: EventSet,
}

/// `ctrl ; [isync] ; po ; [M]`, for the machine's instruction of that kind.
pub(super) fn ctrl_isync(c: &Candidate, isync: Fence) -> Relation {
    let all = c.accesses();
    let isync = c.fences(|f| f == isync);
    let decided = c.deps.ctrl.between(all, isync);
    decided.then(&c.po.between(isync, all))
}

/// `addr ∪ data ∪ ctrl ∪ addr;po`, between accesses.
pub(super) fn dependencies(c: &Candidate) -> Relation {
    let (all, deps) = (c.accesses(), &c.deps);
    deps.addr
        .union(&deps.data)
        .union(&deps.ctrl)
        .union(&deps.addr.then(&c.po))
        .between(all, all)
}

/// The axioms.
pub(super) fn check(local: &Local, com: &Communication) -> Result<(), Axiom> {
    let hb = ppo(local, com).union(&local.fence).union(&com.rfe);
    let hb_plus = hb.plus();
    Axiom::MachineThinAir.unless(hb_plus.is_irreflexive())?;
    let hb_star = hb_plus.optional();
    let after_fence = local.fence.then(&hb_star);
    let base = after_fence.union(&com.rfe.then(&after_fence));
    let strong = com
        .com()
        .star()
        .then(&base.star())
        .then(&local.full)
        .then(&hb_star);
    let prop = base.between(local.writes, local.writes).union(&strong);
    let observed = com.fre.then(&prop).then(&hb_star);
    Axiom::Observation.unless(observed.is_irreflexive())?;
    Axiom::Propagation.unless(com.co.union(&prop).is_acyclic())
}

fn ppo(local: &Local, com: &Communication) -> Relation {
    let rdw = local.po_loc.intersect(&com.fre.then(&com.rfe));
    let detour = local.po_loc.intersect(&com.coe.then(&com.rfe));
    let ii0 = local.value.union(&rdw).union(&com.rfi);
    let ci0 = local.ctrl_isync.union(&detour);
    let (mut ii, mut ci, mut cc) = (ii0.clone(), ci0.clone(), local.cc0.clone());
    let mut ic = Relation::new(ii.size());
    loop {
        let new_ii = ii0.union(&ci).union(&ic.then(&ci)).union(&ii.then(&ii));
        let new_ic = ii.union(&cc).union(&ic.then(&cc)).union(&ii.then(&ic));
        let new_ci = ci0.union(&ci.then(&ii)).union(&cc.then(&ci));
        let new_cc = local
            .cc0
            .union(&ci)
            .union(&ci.then(&ic))
            .union(&cc.then(&cc));
        if (&new_ii, &new_ic, &new_ci, &new_cc) == (&ii, &ic, &ci, &cc) {
            break;
        }
        (ii, ic, ci, cc) = (new_ii, new_ic, new_ci, new_cc);
    }
    let (reads, writes) = (local.reads, local.writes);
    ii.between(reads, reads).union(&ic.between(reads, writes))
}
