//! What programs do to memory, read from LLVM, and which pairs of accesses a weaker machine may swap.
//!
//! ```text
//! Module -> threads (who runs), alias (what may meet) -> flow (all paths) -> order + effects (who waits for whom)
//!        -> cycles (which pairs count) -> search (which of them are unordered) -> Answer; repair: what orders them all
//! ```
//!
//! This crate reads no file and knows no LLVM.

mod alias;
mod analyse;
mod cycles;
mod effects;
mod flow;
pub mod from_program;
mod locks;
pub mod module;
mod order;
pub mod port;
mod races;
mod repair;
mod search;
mod starts;
#[cfg(test)]
mod testing;
mod threads;
mod words;

pub use analyse::analyse;
pub use from_program::from_program;
pub use repair::{apply, repair};
