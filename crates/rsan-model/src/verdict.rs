//! What an engine answers. Nothing falls through to `Robust`: an engine that did not finish says
//! `Unknown`, and why.

use crate::{EventId, Graph, Pc, ThreadId, Value};
use std::fmt;

/// The answer to "does the program have the property?".
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Proved for every execution.
    Robust,
    /// Refuted, with a witness.
    Violation(Box<Witness>),
    /// Neither.
    Unknown(Reason),
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The time limit was reached.
    TimeLimit,
    /// The memory limit was reached.
    MemoryLimit,
    /// Loops were cut off after this many iterations.
    LoopBound(u32),
    /// More executions or states than the engine takes on.
    TooLarge(String),
    /// The user interrupted the search.
    Interrupted,
    /// The program has something that this engine or model does not define.
    Unsupported(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeLimit => write!(f, "the time limit was reached"),
            Self::MemoryLimit => write!(f, "the memory limit was reached"),
            Self::LoopBound(n) => write!(f, "loops were cut off after {n} iterations"),
            Self::TooLarge(what) => write!(f, "too large: {what}"),
            Self::Interrupted => write!(f, "interrupted"),
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
        }
    }
}

/// How a program fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// What goes wrong after the schedule.
    pub fault: Fault,
    /// The sequentially consistent run that leads to it: one step per instruction that made an event.
    pub schedule: Vec<Step>,
    /// The events of that run, and for [`Fault::Weak`] and [`Fault::Observed`] also the weak access itself,
    /// reading (or writing after) the stale write. Events are numbered in the order of the run.
    pub graph: Graph,
    /// For [`Fault::Weak`] and [`Fault::Observed`]: the cycle that SC forbids, each edge from the event of
    /// its element to that of the next element, the last one back to the first.
    pub cycle: Vec<(EventId, Edge)>,
}

/// One step of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Who.
    pub thread: ThreadId,
    /// Which instruction.
    pub pc: Pc,
    /// The event it made.
    pub event: EventId,
}

/// An edge of the cycle that SC forbids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Edge {
    /// Program order.
    Po,
    /// Thread creation or join.
    Asw,
    /// Reads-from.
    Rf,
    /// Modification order.
    Mo,
    /// From-read.
    Fr,
    /// Order of SC fences (RC20's reserved location).
    ScFence,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Po => "po",
            Self::Asw => "asw",
            Self::Rf => "rf",
            Self::Mo => "mo",
            Self::Fr => "fr",
            Self::ScFence => "sc",
        })
    }
}

/// What goes wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Weak memory shows more than SC: an access can take effect before a write that every SC order puts first.
    Weak(StaleAccess),
    /// The same, for a load whose stale value is then used (observational robustness).
    Observed {
        /// The load.
        access: StaleAccess,
        /// Thread and instruction that use the value.
        user: (ThreadId, Pc),
    },
    /// Two accesses, one a write and one non-atomic, that happens-before does not order.
    Race {
        /// The earlier one in the run.
        first: EventId,
        /// The later one.
        second: EventId,
    },
    /// An assertion failed.
    Assertion {
        /// Who.
        thread: ThreadId,
        /// Which `assert`.
        pc: Pc,
    },
    /// An expression has no value (division by zero, index out of bounds).
    Trap {
        /// Who.
        thread: ThreadId,
        /// Where.
        pc: Pc,
        /// What happened.
        error: crate::EvalError,
    },
    /// No thread can move, and some have not ended.
    Deadlock {
        /// The blocked threads and where they wait.
        blocked: Vec<(ThreadId, Pc)>,
    },
}

/// An access that may go behind a write that SC puts before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaleAccess {
    /// The access: the last event of the graph for [`Fault::Weak`], an earlier load for [`Fault::Observed`].
    pub access: EventId,
    /// The older write that it may read from, or write directly after.
    pub stale: EventId,
    /// The value of that older write.
    pub stale_value: Value,
    /// The write that every SC order puts before the access.
    pub missed: EventId,
}

impl Fault {
    /// A stable name, used in machine formats.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Weak(_) => "weak-behaviour",
            Self::Observed { .. } => "observed-weak-behaviour",
            Self::Race { .. } => "data-race",
            Self::Assertion { .. } => "assertion",
            Self::Trap { .. } => "trap",
            Self::Deadlock { .. } => "deadlock",
        }
    }
}
