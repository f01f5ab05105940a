//! x86-TSO (Owens, Sarkar and Sewell, TPHOLs 2009), in the axiomatic form of Alglave, Maranget and Tautschnig (Herding cats, TOPLAS
//! 2014).
//!
//! ```text
//! locked  = accesses of instructions that read and write, the reads of failed compare-exchanges included
//! ppo     = [M];po;[M] without (W \ locked) × (R \ locked)       only a store and a later load may swap
//! mfence  = [M];po;[mfence];po;[M]
//! ghb     = ppo ∪ mfence ∪ rfe ∪ co ∪ fr
//! consistent: ghb acyclic
//! ```
//!
//! Orders of accesses and fences of other machines mean nothing here.

use super::{Candidate, Communication, Rules};
use crate::Axiom;
use rsan_model::Relation;
use rsan_model::machine::Fence;

pub(super) struct X86;

impl Rules for X86 {
    /// `ppo ∪ mfence`
    type Local = Relation;

    fn local(c: &Candidate) -> Relation {
        let (memory, locked) = (c.accesses(), c.with(|a| a.update));
        let swap =
            c.po.between(c.writes().minus(locked), c.reads().minus(locked));
        let ppo = c.po.between(memory, memory).minus(&swap);
        let mfence = c.fences(|f| f == Fence::Mfence);
        ppo.union(&c.fenced(memory, mfence, memory))
    }

    fn check(_: &Candidate, local: &Relation, com: &Communication) -> Result<(), Axiom> {
        let ghb = local.union(&com.rfe).union(&com.co).union(&com.fr);
        Axiom::GlobalHappensBefore.unless(ghb.is_acyclic())
    }
}
