//! RISC-V, the weak memory model RVWMO (RISC-V ISA manual, volume I, chapter "RVWMO Memory Consistency Model", and its appendix
//! with the axiomatic form).
//!
//! ```text
//! preserved program order, by the manual's rules
//!  1  [M];po|loc;[W]
//!  2  [R];po|loc;[R] without a store between, and reading different writes
//!  3  [W of an AMO or SC];rfi
//!  4  fence p,s:  [p];po;[fence];po;[s]        fence.tso:  as fence r,rw and fence w,w
//!  5  [acquire];po;[M]
//!  6  [M];po;[release]
//!  7  [RCsc];po;[RCsc]
//!  8  rmw
//!  9  addr    10  data    11  ctrl;[W]
//! 12  (addr ∪ data);rfi
//! 13  addr;po;[W]
//! consistent: ppo ∪ rfe ∪ co ∪ fr acyclic
//! ```
//!
//! An AMO is one memory operation, a load and a store at once: what is before or after its read is before or after its write.
//! Dependencies also start at a store-conditional, from the register that tells whether it succeeded. `fence.i` orders no accesses.
//! The annotations `aq` and `rl` of AMOs, LR and SC are RCsc; on plain loads and stores, for which there are no instructions yet,
//! they are RCpc, as in the published models.

use super::{Candidate, Communication, Rules};
use crate::Axiom;
use rsan_model::machine::{Acquire, Fence, Kinds};
use rsan_model::{EventSet, Relation};

pub(super) struct Riscv;

/// What follows from the threads.
pub(super) struct Local {
    /// Rules 1, 4 to 11 and 13.
    ppo: Relation,
    /// Pairs of rule 2, whatever they read.
    same: Relation,
    /// `addr ∪ data`, for rule 12.
    value: Relation,
    /// Writes of AMOs and SCs, for rule 3.
    atomic: EventSet,
}

impl Rules for Riscv {
    type Local = Local;

    fn local(c: &Candidate) -> Local {
        let (all, reads, writes) = (c.accesses(), c.reads(), c.writes());
        let po_loc = c.po_loc();
        let deps = &c.deps;
        let value = deps.addr.union(&deps.data);
        let to_writes = deps.ctrl.union(&deps.addr.then(&c.po));
        let ppo = po_loc
            .between(all, writes)
            .union(&fences(c))
            .union(&annotations(c))
            .union(&c.rmw)
            .union(&value)
            .union(&to_writes.between(all, writes));
        let over_a_store = po_loc
            .between(reads, writes)
            .then(&po_loc.between(writes, reads));
        Local {
            ppo,
            same: po_loc.between(reads, reads).minus(&over_a_store),
            value,
            atomic: writes.intersect(c.with(|a| a.update || a.exclusive)),
        }
    }

    fn check(c: &Candidate, local: &Local, com: &Communication) -> Result<(), Axiom> {
        let mut order = local
            .ppo
            .union(&local.value.then(&com.rfi))
            .union(&com.rfi.between(local.atomic, c.reads()));
        let source = com.rf.inverse();
        for (a, b) in local.same.pairs() {
            let (seen, later) = (source.successors(a), source.successors(b));
            // A location that is not decided yet has no sources.
            if !seen.is_empty() && !later.is_empty() && seen != later {
                order.add(a, b);
            }
        }
        let order = order.union(&com.rfe).union(&com.co).union(&com.fr);
        Axiom::GlobalMemoryOrder.unless(in_one(c, order).is_acyclic())
    }
}

/// The order with the two halves of each AMO as one operation: what comes before or after one does so of the other.
fn in_one(c: &Candidate, order: Relation) -> Relation {
    if c.amo.is_empty() {
        return order;
    }
    let same = c.amo.union(&c.amo.inverse());
    let between = order.minus(&same);
    same.optional().then(&between).then(&same.optional())
}

/// Rule 4.
fn fences(c: &Candidate) -> Relation {
    let (all, reads, writes) = (c.accesses(), c.reads(), c.writes());
    let kind = |kinds| match kinds {
        Kinds::Reads => reads,
        Kinds::Writes => writes,
        Kinds::All => all,
        Kinds::None => EventSet::EMPTY,
    };
    let mut order = Relation::new(c.events.len());
    for fence in c.fences(|_| true).iter() {
        let only = std::iter::once(fence).collect();
        let mut add = |from, to| order = order.union(&c.fenced(from, only, to));
        match c.events[fence.index()].kind {
            super::Kind::Fence(Fence::Riscv { before, after }) => add(kind(before), kind(after)),
            super::Kind::Fence(Fence::RiscvTso) => {
                add(reads, all);
                add(writes, writes);
            }
            _ => {}
        }
    }
    order
}

/// Rules 5, 6 and 7.
fn annotations(c: &Candidate) -> Relation {
    let all = c.accesses();
    let acquires = c.with(|a| a.strength.acquire != Acquire::No);
    let releases = c.with(|a| a.strength.release);
    let strong = releases.union(c.with(|a| a.strength.acquire == Acquire::Sc));
    let rcsc = strong.intersect(c.with(|a| a.update || a.exclusive));
    c.po.between(acquires, all)
        .union(&c.po.between(all, releases))
        .union(&c.po.between(rcsc, rcsc))
}
