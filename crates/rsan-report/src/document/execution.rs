//! An execution that weak memory allows and sequential consistency does not, or the run that leads to a failure.

use super::{Edge, Frame, Thread, place_of};
use rsan_model::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Events, how they are related, and the cycle that sequential consistency forbids. Events are named by their position in `events`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
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

impl Execution {
    /// The threads, in the order in which they first do something.
    pub fn threads(&self) -> Vec<&Thread> {
        let mut threads = Vec::new();
        for thread in self.events.iter().filter_map(|event| event.thread.as_ref()) {
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        }
        threads
    }

    /// The edges of the cycle: from, to, and what the edge is.
    pub fn cycle_edges(&self) -> impl Iterator<Item = (u32, u32, Edge)> {
        let next = self.cycle.iter().cycle().skip(1);
        let pairs = self.cycle.iter().zip(next);
        pairs.map(|(from, to)| (from.event, to.event, from.edge))
    }

    /// Program order, reads-from, modification order and from-read, each as its immediate edges: the rest follows.
    pub fn immediate_edges(&self) -> Vec<(u32, u32, Edge)> {
        let mut edges = Vec::new();
        let mut last: BTreeMap<&Thread, u32> = BTreeMap::new();
        for (event, number) in self.events.iter().zip(0..) {
            let before = event.thread.as_ref().and_then(|t| last.insert(t, number));
            edges.extend(before.map(|before| (before, number, Edge::Po)));
            if event.read.is_some() {
                let from = self.rf.iter().find(|(_, read)| *read == number);
                let from = from.map(|(write, _)| *write);
                edges.extend(from.map(|write| (write, number, Edge::Rf)));
                let next = self.next_write(event.location.as_deref(), from);
                let next = next.filter(|next| *next != number);
                edges.extend(next.map(|next| (number, next, Edge::Fr)));
            }
        }
        for order in &self.mo {
            let pairs = order.writes.windows(2);
            edges.extend(pairs.map(|pair| (pair[0], pair[1], Edge::Mo)));
        }
        edges
    }

    /// The write that overwrites another one, or the initial value.
    fn next_write(&self, location: Option<&str>, write: Option<u32>) -> Option<u32> {
        let order = self.mo.iter().find(|order| match write {
            Some(write) => order.writes.contains(&write),
            None => Some(order.location.as_str()) == location,
        })?;
        let position = match write {
            Some(write) => order.writes.iter().position(|known| *known == write)? + 1,
            None => 0,
        };
        order.writes.get(position).copied()
    }

    /// The short name of an event on the cycle; names follow the order of the run.
    pub fn letter(&self, event: u32) -> Option<String> {
        let mut events: Vec<_> = self.cycle.iter().map(|step| step.event).collect();
        events.sort_unstable();
        events.dedup();
        events.binary_search(&event).ok().map(letter)
    }
}

/// Short names `a`, `b`, …, `z`, `aa`, …
fn letter(index: usize) -> String {
    let mut rest = index;
    let mut name = String::new();
    loop {
        name.insert(0, char::from(b'a' + (rest % 26) as u8));
        if rest < 26 {
            return name;
        }
        rest = rest / 26 - 1;
    }
}

/// An event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
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

impl Event {
    /// `line:column` in the source of the subject, or `file:line` of a compiled program.
    pub fn position(&self) -> Option<String> {
        match (self.line, self.column) {
            (Some(line), Some(column)) => Some(format!("{line}:{column}")),
            (Some(line), None) => Some(line.to_string()),
            (None, _) => {
                let place = place_of(&self.stack).and_then(Frame::place);
                place.map(|place| place.file_line())
            }
        }
    }
}

/// The writes of a location, in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ModificationOrder {
    /// The name of the location.
    pub location: String,
    /// Events.
    pub writes: Vec<u32>,
}

/// What a step is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// An operation of the thread.
    #[default]
    Access,
    /// TSO: the oldest delayed store of the thread reaches memory.
    Flush,
}

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CycleEdge {
    /// The event.
    pub event: u32,
    /// From it to the next event of the cycle.
    pub edge: Edge,
}

/// A weak access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Delay {
    /// The store.
    pub store: u32,
    /// The load that overtakes it.
    pub load: u32,
}
