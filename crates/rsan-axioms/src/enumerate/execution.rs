//! What the enumeration hands out.

use rsan_model::{EvalError, Graph, LocId, Pc, RegId, ThreadId, Value};

/// How a thread of a complete execution came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stop {
    /// It ran to its end.
    Ended,
    /// It was never spawned.
    NotStarted,
    /// It waits here for ever (wait, blocking CAS, join).
    Blocked(Pc),
    /// An assumption does not hold.
    Assumption(Pc),
    /// An assertion failed.
    Assertion(Pc),
    /// An expression has no value.
    Trap(Pc, EvalError),
}

/// A consistent complete execution.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// Its graph.
    pub graph: &'a Graph,
    /// The final registers of each thread.
    pub registers: &'a [Vec<Value>],
    /// How each thread came to its end.
    pub stops: &'a [Stop],
    /// Whether the graph has a data race.
    pub racy: bool,
}

impl Execution<'_> {
    /// Whether all threads that were started ran to their end.
    pub fn all_ended(&self) -> bool {
        self.stops
            .iter()
            .all(|s| matches!(s, Stop::Ended | Stop::NotStarted))
    }

    /// The threads that wait for ever, and where.
    pub fn blocked(&self) -> impl Iterator<Item = (ThreadId, Pc)> {
        self.select(|stop| match stop {
            Stop::Blocked(pc) => Some(pc),
            _ => None,
        })
    }

    /// The assertions that failed.
    pub fn failed_asserts(&self) -> impl Iterator<Item = (ThreadId, Pc)> {
        self.select(|stop| match stop {
            Stop::Assertion(pc) => Some(pc),
            _ => None,
        })
    }

    /// The final value of a location: that of its last write.
    pub fn memory(&self, loc: LocId) -> Value {
        last_value(self.graph, loc)
    }

    /// The final value of a register.
    pub fn register(&self, thread: ThreadId, register: RegId) -> Value {
        self.registers[thread.index()][register.index()]
    }

    fn select(&self, f: impl Fn(Stop) -> Option<Pc>) -> impl Iterator<Item = (ThreadId, Pc)> {
        self.stops
            .iter()
            .enumerate()
            .filter_map(move |(t, &stop)| Some((ThreadId::new(t), f(stop)?)))
    }
}

/// The value of the last write of `loc`.
pub(super) fn last_value(graph: &Graph, loc: LocId) -> Value {
    graph
        .modification_order(loc)
        .last()
        .and_then(|&w| graph.label(w).value_written())
        .expect("every location has its initial write")
}
