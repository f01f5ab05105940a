//! How far the enumeration goes, what it leaves out, and why it may refuse.

use rsan_model::{MAX_EVENTS, Pc, Reason, ThreadId};
use std::fmt;

/// Bounds of an enumeration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How often a thread may take each backward jump. A thread that wants to take it once more stops.
    pub unroll: u32,
    /// Number of consistent graphs, incomplete ones included, after which the enumeration stops.
    pub max_graphs: u64,
    /// Largest number of events of a graph, initial writes included; more than [`MAX_EVENTS`] counts as that.
    pub max_events: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            unroll: 3,
            max_graphs: 5_000_000,
            max_events: MAX_EVENTS,
        }
    }
}

/// What an enumeration left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cut {
    /// Some thread stopped at [`Limits::unroll`].
    pub unrolled: bool,
    /// [`Limits::max_graphs`] was reached.
    pub graphs: bool,
}

impl Cut {
    /// Why the enumeration is not exhaustive; `None` when it is.
    pub fn reason(self, limits: &Limits) -> Option<Reason> {
        if self.graphs {
            let what = format!("more than {} execution graphs", limits.max_graphs);
            Some(Reason::TooLarge(what))
        } else if self.unrolled {
            Some(Reason::LoopBound(limits.unroll))
        } else {
            None
        }
    }
}

/// What an enumeration did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Complete executions visited.
    pub executions: u64,
    /// Consistent graphs built, incomplete ones included.
    pub graphs: u64,
    /// What was left out because of the limits.
    pub cut: Cut,
    /// Whether the visitor ended it.
    pub stopped: bool,
}

/// Why a program has no answer at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// A seq_cst access, under a model that has none.
    ScAccess {
        /// Whose.
        thread: ThreadId,
        /// Which instruction.
        pc: Pc,
    },
    /// An execution has more events than a graph can hold.
    TooLarge {
        /// The limit.
        max_events: usize,
    },
    /// A thread is spawned twice, or spawned or joined although it runs from the beginning.
    BadSpawn {
        /// The thread that does it.
        thread: ThreadId,
        /// Which instruction.
        pc: Pc,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ScAccess { thread, pc } => write!(
                f,
                "seq_cst access at {thread}{pc}: this model has none (c20 and rc11 do)"
            ),
            Self::TooLarge { max_events } => {
                write!(f, "an execution has more than {max_events} events")
            }
            Self::BadSpawn { thread, pc } => write!(
                f,
                "{thread}{pc} spawns a thread twice, or spawns or joins one that runs from the beginning"
            ),
        }
    }
}

impl std::error::Error for Error {}
