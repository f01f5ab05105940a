//! ARMv7 (Alglave, Maranget and Tautschnig, Herding cats, TOPLAS 2014: the model called ARM there, table VII).
//!
//! The axioms of [`propagation`](super::propagation) with
//!
//! ```text
//! cc0    = addr ∪ data ∪ ctrl ∪ addr;po          Power's without po|loc: a read may be committed after a write it precedes
//! fence  = [M];po;[dmb];po;[M] ∪ [W];po;[dmb st];po;[W]
//! full   = fence
//! ```
//!
//! There are no acquire reads, release writes or `dmb ld`: they come with version 8, and order nothing here.

use super::propagation::{self, Local};
use super::{Candidate, Communication, Rules};
use crate::Axiom;
use rsan_model::machine::{Fence, Kinds};

pub(super) struct Armv7;

impl Rules for Armv7 {
    type Local = Local;

    fn local(c: &Candidate) -> Local {
        let (all, writes) = (c.accesses(), c.writes());
        let dmb = |kinds| c.fences(|f| f == Fence::Dmb(kinds));
        let fence = c.fenced(all, dmb(Kinds::All), all).union(&c.fenced(
            writes,
            dmb(Kinds::Writes),
            writes,
        ));
        Local {
            value: c.deps.addr.union(&c.deps.data),
            ctrl_isync: propagation::ctrl_isync(c, Fence::Isb),
            cc0: propagation::dependencies(c),
            po_loc: c.po_loc(),
            full: fence.clone(),
            fence,
            reads: c.reads(),
            writes,
        }
    }

    fn check(_: &Candidate, local: &Local, com: &Communication) -> Result<(), Axiom> {
        propagation::check(local, com)
    }
}
