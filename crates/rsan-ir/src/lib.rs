//! What programs do to memory, read from LLVM, and which pairs of accesses a weaker machine may swap.

pub mod from_program;
pub mod module;
pub mod port;

pub use from_program::from_program;
