//! What programs do on machines: compilation against the axioms of C, and the static analysis against enumeration.

mod compiled;
mod repaired;
mod replay;
mod sets;
mod soundness;

pub use compiled::{CompiledTally, compare_compiled};
pub use soundness::{PAIRS, PortTally, Straight, compare_port};
