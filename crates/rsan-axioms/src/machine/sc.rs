//! Sequential consistency (Lamport 1979; Shasha and Snir 1988).
//!
//! ```text
//! consistent: po ∪ rf ∪ co ∪ fr acyclic
//! ```

use super::{Candidate, Communication, Rules};
use crate::Axiom;

pub(super) struct Sc;

impl Rules for Sc {
    type Local = ();

    fn local(_: &Candidate) -> Self::Local {}

    fn check(candidate: &Candidate, (): &(), com: &Communication) -> Result<(), Axiom> {
        let order = candidate.po.union(&com.com());
        Axiom::SequentialConsistency.unless(order.is_acyclic())
    }
}
