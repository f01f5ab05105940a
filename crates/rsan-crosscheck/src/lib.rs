//! Every engine of rsan against the oracle, on random programs.
//!
//! A random program is small (2 to 4 threads, about a dozen instructions, no loops) and uses every operation and
//! order that the model defines. Four engines answer whether it is robust and free of races:
//! the enumeration of all consistent execution graphs (`rsan-axioms`, the oracle), the two forms of the online
//! monitor (`rsan-clocks`) run over *all* SC interleavings, and the state-space search (`rsan-verify`). They share
//! nothing but `rsan-model`. A disagreement is a bug; it is shrunk and printed in the compact notation, with the seed
//! that made it.
//!
//! This crate is for tests and for `cargo xtask crosscheck`; nothing that users run depends on it.

mod compare;
mod generate;
mod interleave;
mod paired;
mod random;
mod shrink;

pub use compare::{Answers, Disagreement, Tally, compare, crosscheck};
pub use generate::{Profile, generate};
pub use interleave::{Monitored, Seen, interleave};
pub use paired::Paired;
pub use random::Random;
pub use shrink::shrink;
