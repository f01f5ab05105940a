//! The cheapest fences and stronger orders that make a program robust against RA, RC20 or C20.
//!
//! *Decides*: which changes of a program, of all sets of [`Site`]s' options, make it verify (robust, and free of data races) at
//! the least cost, with ties broken by how much stronger the orders become. Exact for programs that `rsan-verify` decides.
//!
//! *Method*: implicit hitting sets. The cheapest changes that satisfy the clauses found so far (a 0/1 integer program) are
//! tried. If the program still fails, the failing set is grown as far as it goes on failing soon, and a new clause says that a repair
//! has a change outside of it.
//!
//! *Why that is exact*: let a set of changes leave an execution that is not SC, on a cycle without an edge between two SC
//! fences. Without some of the changes the same execution, less their fences, is still allowed and still has the
//! cycle, so no subset is a repair ([`hereditary`]); the same holds for races, whose SC run stays. The clause is then sound. An SC
//! fence of RC20 and RA is an update of a reserved location, though: its order can be observed, and a fence can add a
//! violation (`rsan-crosscheck/tests/strengthen.rs`). Where the cycle goes through the order of fences, the clause only
//! speaks of sets with these very SC fences: others may or may not fail. Under C20 there are no such edges.
//!
//! *Invariants*: a repair was verified, and so was that it fails with any one change left out or made weaker.
//!
//! *Cost*: a verification for each candidate, and one for each site whenever a failing set is grown. Where fences are
//! observable the number of candidates can grow exponentially with the number of fences needed.

mod cost;
mod search;
mod site;
mod solve;

pub use cost::Target;
pub use search::{Proved, Repair, Synthesis, cheapest};
pub use site::{Chosen, Kind, Scope, Site, Strengthened, apply, sites};

use rsan_model::{Edge, Fault, Witness};

/// Whether a violation that is left after some changes is also there with fewer of them.
pub fn hereditary(witness: &Witness) -> bool {
    let fences = |cycle: &[(_, Edge)]| cycle.iter().any(|(_, edge)| *edge == Edge::ScFence);
    match witness.fault {
        Fault::Weak(_) => !witness.cycle.is_empty() && !fences(&witness.cycle),
        Fault::Race { .. } => true,
        Fault::Observed { .. }
        | Fault::Assertion { .. }
        | Fault::Trap { .. }
        | Fault::Deadlock { .. } => false,
    }
}
