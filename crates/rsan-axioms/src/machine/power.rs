//! IBM Power (Alglave, Maranget and Tautschnig, Herding cats, TOPLAS 2014, figures 17, 18 and 25).
//!
//! The axioms of [`propagation`](super::propagation) with
//!
//! ```text
//! cc0    = addr ∪ data ∪ po|loc ∪ ctrl ∪ addr;po
//! full   = [M];po;[sync];po;[M]
//! fence  = full ∪ [M];po;[lwsync];po;[M] without W × R ∪ [W];po;[eieio];po;[W]
//! ```

use super::propagation::{self, Local};
use super::{Candidate, Communication, Rules};
use crate::Axiom;
use rsan_model::machine::Fence;

pub(super) struct Power;

impl Rules for Power {
    type Local = Local;

    fn local(c: &Candidate) -> Local {
        let (all, reads, writes) = (c.accesses(), c.reads(), c.writes());
        let fences = |fence| c.fences(|f| f == fence);
        let (sync, lwsync, eieio) = (
            fences(Fence::Sync),
            fences(Fence::Lwsync),
            fences(Fence::Eieio),
        );
        let full = c.fenced(all, sync, all);
        let light = c
            .fenced(reads, lwsync, all)
            .union(&c.fenced(writes, lwsync, writes))
            .union(&c.fenced(writes, eieio, writes));
        let po_loc = c.po_loc();
        Local {
            value: c.deps.addr.union(&c.deps.data),
            ctrl_isync: propagation::ctrl_isync(c, Fence::Isync),
            cc0: propagation::dependencies(c).union(&po_loc),
            po_loc,
            fence: full.union(&light),
            full,
            reads,
            writes,
        }
    }

    fn check(_: &Candidate, local: &Local, com: &Communication) -> Result<(), Axiom> {
        propagation::check(local, com)
    }
}
