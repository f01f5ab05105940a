//! What programs do on machines: compilation against the axioms of C, and the static analysis against enumeration.

mod compiled;
mod replay;

pub use compiled::{CompiledTally, compare_compiled};
