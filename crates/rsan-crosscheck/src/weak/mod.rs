//! The engine of weak executions (`rsan-weak`) against the oracle.
//!
//! [`executions`] runs a program through the engine over all schedules and all choices of writes, and collects the execution graphs.
//! [`expected`] are the graphs that must come out: the consistent ones of C++20 for which an order S of the seq_cst events
//! exists that no cycle of `po ∪ asw ∪ rf` contradicts (docs/theory/weak.md, E1). The campaign holds them against each other.

mod campaign;
mod choices;
mod execute;
mod finish;
mod interleaved;
mod local;
mod memory;
mod oracle;
mod outcome;

pub use campaign::{WeakDifference, WeakTally, atomic, compare_weak, weak_program};
pub use execute::{Exploration, Mode, executions};
pub use memory::{Known, Memory};
pub use oracle::{Expected, expected};
pub use outcome::{Name, Outcome};

crate::weak_memory!(rsan_weak::Engine, rsan_weak::LocationId, rsan_weak::WriteId);
