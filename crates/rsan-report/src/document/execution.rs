//! An execution that weak memory allows and sequential consistency does not, or the run that leads to a failure.

use super::{Edge, Frame, Thread};
use rsan_model::Value;
use serde::{Deserialize, Serialize};

/// Events, how they are related, and the cycle that sequential consistency forbids. Events are named by their position in `events`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Execution {
    /// In the order of the run, those of a thread in program order; of a run of a compiled program only those that matter.
    pub events: Vec<Event>,
    /// Pairs of a write and a read that sees it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rf: Vec<(u32, u32)>,
    /// The writes of each location, in modification order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mo: Vec<ModificationOrder>,
    /// What the threads do, one step after the other, up to the weak access or the failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<Step>,
    /// The cycle: each event with the edge that leads to the next one; the last leads to the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<CycleEdge>,
    /// The access that is weak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<Stale>,
    /// TSO: the store that is delayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
}

/// An event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// None for initial values.
    pub thread: Option<Thread>,
    /// In the source of the subject; see the stack otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// In words, with values and order: `store x = 1 (release)`.
    pub operation: String,
    /// What is accessed, by the name that the user gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The value that is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Value>,
    /// The value that is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Value>,
    /// The memory order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Of a compiled program: where, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
}

/// The writes of a location, in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModificationOrder {
    /// The name of the location.
    pub location: String,
    /// Events.
    pub writes: Vec<u32>,
}

/// What a step is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// An operation of the thread.
    #[default]
    Access,
    /// TSO: the oldest delayed store of the thread reaches memory.
    Flush,
}

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// Who.
    pub thread: Thread,
    /// What.
    pub kind: StepKind,
    /// The event that it makes; of a flush, the store that reaches memory.
    pub event: Option<u32>,
    /// In words.
    pub operation: String,
    /// In the source of the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// An event of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CycleEdge {
    /// The event.
    pub event: u32,
    /// From it to the next event of the cycle.
    pub edge: Edge,
}

/// A weak access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stale {
    /// The access.
    pub access: u32,
    /// The write that it misses.
    pub missed: u32,
    /// The older write that it reads, or directly after which it takes effect; not known of a compiled program.
    pub write: Option<u32>,
    /// Of the older write.
    pub value: Option<Value>,
}

/// A store that is delayed past a load of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Delay {
    /// The store.
    pub store: u32,
    /// The load that overtakes it.
    pub load: u32,
}
