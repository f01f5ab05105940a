//! What programs do on processors: SC, x86, ARMv8, ARMv7, RISC-V and Power as predicates on candidate executions, and the
//! enumeration of the executions that they allow.
//!
//! A [`Candidate`] has the events of each thread with their dependencies, the write that each read sees (`rf`) and the order of
//! the writes of each location (`co`). [`consistent`] asks whether a machine allows it, [`executions`] enumerates those of a program,
//! [`outcomes_until`] collects their final states.
//!
//! # Enumeration
//!
//! Load buffering makes `po ∪ rf` cyclic, so that executions cannot be built event by event. Instead:
//!
//! 1. the values that each location may hold, as a fixpoint: loads take any value of the set, what is stored joins it
//!    (`thread`). Every machine forbids values out of thin air, so as many rounds as there are stores are enough;
//! 2. with these values all traces of each thread: its events, dependencies and final registers;
//! 3. all combinations of traces in which every value that is read is written (`enumerate`);
//! 4. for each location all `(rf, co)` that are SC for that location and keep read-modify-writes atomic, which every machine
//!    demands (`location`);
//! 5. their product over the locations, checked after each location by the rest of the machine's axioms. These only gain pairs
//!    when `rf` and `co` do, so that what is inconsistent stays so.
//!
//! | symbol | here | meaning |
//! |---|---|---|
//! | `po` | [`Candidate::po`] | program order, of fences too; initial writes stand outside |
//! | `addr data ctrl` | [`Candidate`] | syntactic dependencies of an address, of a stored value, of a branch before |
//! | `pick` | [`Candidate::pick`] | the same through the condition of a selection (ARMv8) |
//! | `rmw`, `amo` | [`Candidate`] | the read and the write of an atomic update; those of one instruction |
//! | `rf co fr` | [`Communication`] | reads-from, coherence (initial write first), from-read; `e`, `i`: between threads, within one |
//! | `[X]`, `X?`, `a ; b` | | the identity on `X`, the reflexive closure, composition |
//! | `R W M` | [`Candidate::reads`] and others | reads, writes, both |

mod armv7;
mod armv8;
mod candidate;
mod enumerate;
mod location;
mod outcomes;
mod power;
mod propagation;
mod riscv;
mod sc;
mod skeleton;
mod taint;
mod thread;
mod ticker;
mod x86;

pub use candidate::{Access, Candidate, Communication, Dependencies, Event, Kind};
pub use enumerate::{executions, executions_until};
pub use outcomes::{outcomes, outcomes_until};

use crate::Axiom;
use rsan_model::machine::Machine;
use rsan_model::{EvalError, Relation, ThreadId};
use std::fmt;

/// A machine's own axioms, beyond SC per location and atomicity.
trait Rules {
    /// What follows from the threads alone, so that it is computed once for all `rf` and `co`.
    type Local;

    /// Computes it.
    fn local(candidate: &Candidate) -> Self::Local;

    /// Whether the candidate satisfies the axioms.
    fn check(candidate: &Candidate, local: &Self::Local, com: &Communication) -> Result<(), Axiom>;
}

/// Whether `machine` allows the execution.
///
/// # Errors
/// The first axiom that is violated.
pub fn consistent(machine: Machine, candidate: &Candidate) -> Result<(), Axiom> {
    let com = candidate.communication();
    coherent(candidate, &com)?;
    match machine {
        Machine::Sc => check::<sc::Sc>(candidate, &com),
        Machine::X86 => check::<x86::X86>(candidate, &com),
        Machine::Armv8 => check::<armv8::Armv8>(candidate, &com),
        Machine::Armv7 => check::<armv7::Armv7>(candidate, &com),
        Machine::Riscv => check::<riscv::Riscv>(candidate, &com),
        Machine::Power => check::<power::Power>(candidate, &com),
    }
}

fn check<R: Rules>(candidate: &Candidate, com: &Communication) -> Result<(), Axiom> {
    R::check(candidate, &R::local(candidate), com)
}

/// What all machines have: SC for each location, and nothing of another thread between the halves of an update.
fn coherent(candidate: &Candidate, com: &Communication) -> Result<(), Axiom> {
    let order = candidate.po_loc().union(&com.com());
    Axiom::Uniproc.unless(order.is_acyclic())?;
    let between: Relation = com.fre.then(&com.coe);
    Axiom::Exclusive.unless(candidate.rmw.intersect(&between).is_empty())
}

/// Why a program of a machine has no answer at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// An access of an address at which there is no location, in an execution that the machine allows.
    NoLocation {
        /// Whose.
        thread: ThreadId,
        /// Which operation: an index into the thread's code.
        op: usize,
        /// The address.
        address: i64,
    },
    /// An expression without a value, in an execution that the machine allows.
    Eval {
        /// Whose.
        thread: ThreadId,
        /// Which operation: an index into the thread's code.
        op: usize,
        /// Why.
        error: EvalError,
    },
    /// An execution has more events than a candidate can hold.
    TooLarge {
        /// The limit.
        max_events: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLocation {
                thread,
                op,
                address,
            } => write!(
                f,
                "{thread}@{op} accesses {address:#x}, where there is no location"
            ),
            Self::Eval { thread, op, error } => write!(f, "{thread}@{op}: {error}"),
            Self::TooLarge { max_events } => {
                write!(f, "an execution has more than {max_events} events")
            }
        }
    }
}

impl std::error::Error for Error {}
