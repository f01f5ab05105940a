//! Who runs next. One strategy per file, behind one small trait; [`Spec`] knows those that sample by name.

mod follow;
mod pct;
mod pos;
mod prefix;
mod random;
mod replay;
mod spec;
mod table;
pub mod weak;

pub use follow::Follow;
pub use pct::Pct;
pub use pos::Pos;
pub use prefix::Prefix;
pub use random::RandomWalk;
pub use replay::{Divergence, Found, Replay};
pub use spec::Spec;
pub use table::SpecError;
pub use weak::{Aim, Target, WeakSpec};

use crate::{Candidate, Op, Origin, Step};
use rsan_model::ThreadId;
use std::fmt::Debug;

/// Decides at every visible operation which thread goes on.
///
/// A strategy is asked before each step. What it answers depends only on its seed and on what it was told, so the same
/// program and seed give the same schedule.
pub trait Strategy: Debug + Send {
    /// The index in `ready` of the thread that makes the next step; `None` ends the run here, as if the threads that are
    /// ready waited for ever (only the exploration of all schedules does that).
    ///
    /// `ready` is never empty and ascends by thread; `last` is the thread that made the last step.
    fn choose(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize>;

    /// Which write a thread reads, as an index in `writes`, which is never empty and has those that it may read in the order in which
    /// they were made. Only weak executions ask; a sequentially consistent one reads the last write.
    fn read(&mut self, _reading: &Reading, writes: &[Readable]) -> usize {
        writes.len() - 1
    }

    /// Whether a weak compare-and-swap fails although it finds what it expects. Of the runtime's runs, only weak executions ask.
    fn fails(&mut self, _reading: &Reading) -> bool {
        false
    }

    /// The thread gave up the processor: `sched_yield`, a sleep, or a failed spin iteration.
    fn yielded(&mut self, _thread: ThreadId) {}

    /// A thread has come to its next operation. Only weak executions tell.
    fn arrived(&mut self, _arrival: Arrival) {}

    /// The thread made this step.
    fn stepped(&mut self, _step: &Step) {}

    /// Whether it matters what a thread would read that has come to a read in this state ([`crate::Local`]).
    fn looks_at(&self, _state: u64) -> bool {
        false
    }

    /// What threads of which it matters would read, as states and values, if they were chosen next. Told before each choice.
    fn would_read(&mut self, _reads: &[(ThreadId, u64, u64)]) {}

    /// Whether a thread may go round again in a loop that only waits, when one of the words that it has read has changed.
    /// Otherwise it stays where it is for the rest of the run, and the run ends when only such threads could go on.
    fn goes_round(&self) -> bool {
        true
    }

    /// Whether a program that comes to its end while threads run ends only when no other thread can go on. That shows
    /// whatever they do in a run in which the end comes earlier, and more.
    fn ends_last(&self) -> bool {
        false
    }

    /// Where the run left the schedule that it should follow, if it did.
    fn divergence(&self) -> Option<Divergence> {
        None
    }
}

/// A thread comes to an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Who.
    pub thread: ThreadId,
    /// It has made plain writes since its last operation, not only on its stack.
    pub wrote: bool,
    /// The operation is an atomic write that releases.
    pub releases: bool,
}

/// A read for which there are several writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// Who reads.
    pub thread: ThreadId,
    /// How.
    pub op: Op,
    /// Where in the program, as a number that is the same in every run of it; see [`place`].
    pub place: u64,
}

/// A write that may be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Readable {
    /// Which.
    pub origin: Origin,
    /// Where in the program, as [`Reading::place`]; 0 for the initial value.
    pub place: u64,
    /// The thread knows of it already: it happens before the read, or the thread has read it, or a later one.
    pub known: bool,
    /// What the thread has done and read comes after a later write, in the order of execution: if the run is sequentially consistent up
    /// to here, it is not any more when this is read.
    pub leaves_sc: bool,
}

/// The number of a place in a program: an offset in a module, which has this name without its folder.
pub fn place(module: &str, offset: u64) -> u64 {
    let name = module.rsplit('/').next().unwrap_or_default();
    let name = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    rsan_random::mix(name ^ offset)
}

/// The next thread after one that yields, in turn.
pub fn after(ready: &[Candidate], tired: ThreadId) -> usize {
    let next = ready.iter().position(|c| c.thread > tired);
    next.unwrap_or(0)
}

/// What a strategy does that has no opinion: stay with the last thread while it is ready, else take the lowest.
pub fn stay(ready: &[Candidate], last: Option<ThreadId>) -> usize {
    ready
        .iter()
        .position(|c| Some(c.thread) == last)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
