//! Random C programs with loops, explored by `rsan run --exhaustive`, against the verifier and the oracle.
//!
//! # What is compared
//!
//! A [`Looping`] program is a [`Program`] of the model in which waiting is a blocking operation, and the form in C of
//! each of its instructions: there, what blocks is a loop. A round of a loop that only waits is no part of an execution, so
//! the C program has exactly the executions of the model's program:
//!
//! - `Wait` is a loop around a load, `Bcas` one around a compare-and-swap. A failed spin iteration only reads.
//! - A loop that has no blocking operation (over two words, a load and a compare-and-swap, a seqlock's reader) is its body,
//!   once, and an assumption of what ends it; in C it goes back to the body's beginning. A body only reads, but
//!   for a compare-and-swap at its end that succeeds in the last round. In the graphs of the oracle a thread may have stopped at the
//!   assumption. What it did in that failed spin iteration is left out of the graph: no other event depends on it, for it reads only.
//!   The verifier has no way to leave it out. It may find more there, never less.
//!
//! # When answers differ
//!
//! - A data race that some sequentially consistent run of the model's program shows must be found, and no other. A program
//!   with a race has no further meaning, so nothing else is compared then.
//! - Without races, a weak behaviour must be found if and only if some consistent graph is not sequentially consistent.
//! - A deadlock must be found if and only if some run of the model's program ends with a thread that waits.
//!
//! `undecided` is no difference, but counted. So is a weak behaviour that the model's program does not have while the verifier finds one in
//! the program with its loops as they are written ([`Difference::InVain`]): a failed spin iteration takes part in it. That it is the
//! same behaviour is not checked. Counted is, too, a weak behaviour that is not found while every graph that shows it has a stale load that the failed
//! compare-and-swap behind it corrects ([`Difference::Corrected`]).

mod campaign;
mod corrected;
mod drive;
mod expect;
mod generate;
mod numbered;
mod patterns;
mod print;
mod readers;
mod shrink;
#[cfg(test)]
mod tests;
mod written;

pub use campaign::{Checked, LoopCampaign, LoopReport, LoopTally, Odd, again};
pub use drive::{Answer, Level, Tool};
pub use expect::{Difference, Expected};

use rsan_model::{LocId, Program, ReadOrd};

/// A program of the model with the form of its instructions in C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Looping {
    /// The program, in which waiting is blocking.
    pub program: Program,
    /// By thread and instruction.
    pub(crate) forms: Vec<Vec<Form>>,
}

/// How an instruction is written in C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A wait or blocking compare-and-swap as a loop without a body; anything else as it is.
    Short,
    /// As a `do` loop that keeps the value in a local variable.
    Kept,
    /// As a loop with a processor's hint that it waits.
    Pause,
    /// As a loop that yields.
    Yield,
    /// As a loop that reads another word in each failed spin iteration.
    Reread(LocId, ReadOrd),
    /// A blocking compare-and-swap that takes 0 and leaves 1, as an exchange that is repeated while it finds 1.
    Exchange,
    /// An assumption: if it fails, back to this instruction.
    Back(usize),
    /// An assumption that a compare-and-swap succeeded, with the load for it two instructions before: if it failed, back to the
    /// compare-and-swap, with the value that it found. The model's program goes back to the load.
    Carry(usize),
}

impl Form {
    /// Where a round begins that this instruction ends.
    pub(crate) fn back(self) -> Option<usize> {
        match self {
            Self::Back(to) | Self::Carry(to) => Some(to),
            _ => None,
        }
    }
}
