//! The log of the sanitizer's runtime: what the processes of a run say, one JSON object per line.
//!
//! The types here are the format. The runtime builds a [`Line`] of borrowed texts and writes it by `Display`; the command
//! reads it, with the feature `read`, by `FromStr`. The fields of an object are those of its type, in the same order;
//! enumerations stand there by their names.
//!
//! ```text
//! {"schema":"rsan-runtime/1","pid":N,"kind":"race"|"violation"|"misuse"|"deadlock"|"inversion",…,"step":N|null}   a Finding
//! {"schema":"rsan-runtime/1","pid":N,"kind":"start"|"suppressed"|…,…}                                            an Event
//! ```
//!
//! - An [`Address`] is `"0x…"`, a value of the program a decimal number in quotes.
//! - What is not known is `null`; a stack of which nothing is known is empty.
//! - [`Key`] says when two findings are the same.
//!
//! Writing allocates nothing and needs no other crate: it happens in the process that is sanitized.

#[macro_use]
mod write;
mod finding;
mod names;
#[cfg(feature = "read")]
mod read;
mod same;

pub use finding::{
    Address, Chain, Context, Failure, Finding, Frame, Held, Link, Manner, Memory, Side, Stack,
    Taken, Waiting,
};
pub use names::{Edge, Misuse, Mode, Operation, Unknown, Visible, Wait};
#[cfg(feature = "read")]
pub use read::Unreadable;
pub use same::Key;

use rsan_model::Model;
use std::borrow::Cow;
use std::fmt;
use write::{Fields, Object};

/// What every line begins with.
const SCHEMA: &str = "rsan-runtime/1";

/// A line of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line<'a> {
    /// The process that wrote it.
    pub pid: u32,
    /// What it says.
    pub entry: Entry<'a>,
}

/// What a line says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry<'a> {
    /// Something about the process.
    Event(Event<'a>),
    /// Something that was found.
    Finding {
        /// What.
        finding: Box<Finding<'a>>,
        /// Steps of the run until then, under controlled scheduling.
        step: Option<u64>,
    },
}

tagged! {
    /// Something about a process.
    Event {
        /// It runs; with `announce=1`.
        Start "start" {
            /// The path of its program.
            program: Cow<'a, str>,
            /// Its command line.
            command: Cow<'a, str>,
            /// What its accesses are judged by.
            #[cfg_attr(feature = "read", serde(deserialize_with = "read::model"))]
            model: Model,
        },
        /// A finding was left out; with `announce=1`.
        Suppressed "suppressed",
        /// Modules are not instrumented; with `announce=1`, after the first race.
        Foreign "foreign" {
            /// The names of their files.
            modules: Vec<Cow<'a, str>>,
        },
        /// It runs under controlled scheduling, and made a process that does not.
        Forked "forked",
        /// A thread did not do what was planned.
        Diverged "diverged" {
            /// Where.
            stack: Stack<'a>,
        },
        /// A load of a weak run read another write than the last one; with `explain=1`.
        Stale "stale" {
            /// Steps before it.
            step: u64,
            /// The first byte.
            address: Address,
            /// The number of bytes.
            size: u64,
            /// What is there.
            #[cfg_attr(feature = "read", serde(default))]
            memory: Option<Memory<'a>>,
            /// The access.
            access: Box<Side<'a>>,
            /// What it read.
            read: Box<Side<'a>>,
            /// The last write that it could have read.
            last: Box<Side<'a>>,
        },
        /// An atomic access, or a fence, of a weak run; with `explain=1`, of the first ones.
        Access "access" {
            /// Steps before it.
            step: u64,
            /// What is accessed.
            #[cfg_attr(feature = "read", serde(default))]
            memory: Option<Memory<'a>>,
            /// Where.
            stack: Stack<'a>,
        },
        /// It does what the model does not have, and ends.
        Refused "refused" {
            /// What, and why not.
            message: Cow<'a, str>,
            /// Where.
            stack: Stack<'a>,
        },
        /// With `exact=1`: this run is no part of a proof.
        Undecided "undecided" {
            /// Why.
            message: Cow<'a, str>,
            /// Where.
            stack: Stack<'a>,
        },
        /// The program is about to fail; with `announce=1`.
        Failed "failed" {
            /// How, and where.
            failure: Failure<'a>,
        },
        /// The runtime could not go on, and the process ends.
        Fatal "fatal" {
            /// Why.
            message: Cow<'a, str>,
        },
    }
}

impl Fields for Line<'_> {
    fn fields(&self, object: &mut Object<'_, '_>) -> fmt::Result {
        object.field("schema", &SCHEMA)?;
        object.field("pid", &self.pid)?;
        match &self.entry {
            Entry::Event(event) => event.fields(object),
            Entry::Finding { finding, step } => {
                finding.fields(object)?;
                object.field("step", step)
            }
        }
    }
}

/// The line without its end.
impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Object::write(f, self)
    }
}

impl<'a> From<Event<'a>> for Entry<'a> {
    fn from(event: Event<'a>) -> Self {
        Self::Event(event)
    }
}
