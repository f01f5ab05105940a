//! ARMv8, the multi-copy-atomic model of the Arm architecture (Arm ARM, B2.3; Pulte, Flur, Deacon, French, Sarkar and Sewell,
//! POPL 2018), with the atomics of ARMv8.1, `ldapr` of ARMv8.3, and pick dependencies as the manual has had them since 2022.
//!
//! ```text
//! A, Q, L  = acquire reads (ldar, ldaxr, casa), acquirePC reads (ldapr), release writes (stlr, stlxr, casl)
//! obs      = rfe ∪ coe ∪ fre
//! lws      = [M];po|loc;[W]
//! dob      = addr ∪ data ∪ ctrl;[W] ∪ addr;po;[W] ∪ (addr ∪ data);rfi
//! isb      = (ctrl ∪ pick.ctrl ∪ (addr ∪ pick.addr);po) ; [isb] ; po ; [M]
//! pob      = (pick.addr ∪ pick.data ∪ pick.ctrl);[W] ∪ pick.addr;po;[W]
//! aob      = rmw ∪ rmw;rfi;[A ∪ Q]
//! bob      = [M];po;[dmb];po;[M] ∪ [R];po;[dmb ld];po;[M] ∪ [W];po;[dmb st];po;[W]
//!          ∪ [L];po;[A] ∪ [A ∪ Q];po;[M] ∪ [M];po;[L] ∪ [range([A];amo;[L])];po;[M]
//! lob      = (lws ∪ dob ∪ isb ∪ pob ∪ aob ∪ bob)+
//! ob       = (obs ∪ lob ∪ (pick.addr ∪ pick.data ∪ pick.ctrl);lob;[W])+
//! consistent: ob irreflexive
//! ```
//!
//! `dmb ld` does not order reads whose value the program does not see (`stadd`). A pick dependency passes the condition of a
//! selection (`csel`, the comparison of `cas`); the processor may guess that. `pick.data` also leads to a load that follows the store of a
//! picked value to its location. The manual's `rfi` is between a store and the next loads of
//! its thread whether they see it or not; a load that sees a later write of another thread is after the store by `obs` anyway.

use super::{Candidate, Communication, Rules};
use crate::Axiom;
use rsan_model::machine::{Acquire, Fence, Kinds};
use rsan_model::{EventSet, Relation};

pub(super) struct Armv8;

/// What follows from the threads.
pub(super) struct Local {
    /// `lob` without what needs `rfi`, not closed.
    lob: Relation,
    /// `addr ∪ data`
    value: Relation,
    /// `A ∪ Q`
    acquires: EventSet,
    /// `pick.addr ∪ pick.data ∪ pick.ctrl`, if there are any.
    picks: Option<Relation>,
    writes: EventSet,
}

impl Rules for Armv8 {
    type Local = Local;

    fn local(c: &Candidate) -> Local {
        let writes = c.writes();
        let lws = c.po_loc().between(c.accesses(), writes);
        let lob = lws
            .union(&dob(c))
            .union(&isb(c))
            .union(&c.rmw)
            .union(&bob(c));
        let picks = c.pick.addr.union(&c.pick.data).union(&c.pick.ctrl);
        let picks = (!picks.is_empty()).then_some(picks);
        Local {
            lob: match &picks {
                Some(_) => lob.union(&pob(c)),
                None => lob,
            },
            value: c.deps.addr.union(&c.deps.data),
            acquires: c.select(|e| e.is_read()).intersect(acquires(c)),
            picks,
            writes,
        }
    }

    fn check(c: &Candidate, local: &Local, com: &Communication) -> Result<(), Axiom> {
        let all = c.accesses();
        let forwarded = local.value.then(&com.rfi);
        let atomic = c.rmw.then(&com.rfi).between(all, local.acquires);
        let lob = local.lob.union(&forwarded).union(&atomic);
        let mut ob = com.external().union(&lob);
        if let Some(picks) = &local.picks {
            ob = ob.union(&picks.then(&lob.plus()).between(all, local.writes));
        }
        Axiom::OrderedBefore.unless(ob.is_acyclic())
    }
}

/// `A ∪ Q`
fn acquires(c: &Candidate) -> EventSet {
    c.with(|a| a.strength.acquire != Acquire::No)
        .intersect(c.reads())
}

/// `dob` without `(addr ∪ data);rfi`
fn dob(c: &Candidate) -> Relation {
    let (all, writes) = (c.accesses(), c.writes());
    let deps = &c.deps;
    let behind = deps.addr.then(&c.po);
    deps.addr
        .union(&deps.data)
        .union(&deps.ctrl.union(&behind).between(all, writes))
}

fn isb(c: &Candidate) -> Relation {
    let isb = c.fences(|f| f == Fence::Isb);
    if isb.is_empty() {
        return Relation::new(c.events.len());
    }
    let behind = c.deps.addr.union(&c.pick.addr).then(&c.po);
    let decided = c.deps.ctrl.union(&c.pick.ctrl).union(&behind);
    let all = c.accesses();
    decided.between(all, isb).then(&c.po.between(isb, all))
}

fn pob(c: &Candidate) -> Relation {
    let pick = &c.pick;
    let picks = pick.addr.union(&pick.data).union(&pick.ctrl);
    let behind = pick.addr.then(&c.po);
    picks.union(&behind).between(c.accesses(), c.writes())
}

fn bob(c: &Candidate) -> Relation {
    let (all, reads, writes) = (c.accesses(), c.reads(), c.writes());
    let dmb = |kinds| c.fences(|f| f == Fence::Dmb(kinds));
    let seen = reads.intersect(c.with(|a| a.returns));
    let strong = reads.intersect(c.with(|a| a.strength.acquire == Acquire::Sc));
    let releases = writes.intersect(c.with(|a| a.strength.release));
    let both = c.amo.between(strong, releases);
    let mut fences = releases.minus(releases);
    both.pairs().for_each(|(_, write)| fences.insert(write));
    c.fenced(all, dmb(Kinds::All), all)
        .union(&c.fenced(seen, dmb(Kinds::Reads), all))
        .union(&c.fenced(writes, dmb(Kinds::Writes), writes))
        .union(&c.po.between(releases, strong))
        .union(&c.po.between(acquires(c), all))
        .union(&c.po.between(all, releases))
        .union(&c.po.between(fences, all))
}
