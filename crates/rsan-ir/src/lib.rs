//! What programs do to memory, read from LLVM, and which pairs of accesses a weaker machine may swap.

pub mod module;
pub mod port;
