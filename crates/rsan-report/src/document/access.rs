//! Accesses of a program that was run.

use super::{Frame, Place, Thread, maker_of, place_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an access is to its finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The one at which it was found.
    Access,
    /// The one that it races with, or what makes it wrong: the free, the destruction…
    Earlier,
    /// The write that a weak access misses.
    Missed,
    /// The write that it reads instead, or directly after which it takes effect.
    Stale,
    /// A thread of a deadlock.
    Waiting,
    /// A lock that is taken, in an inversion.
    Lock,
}

/// An edge between two events of an execution.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// Program order.
    Po,
    /// Thread creation or join.
    Asw,
    /// Synchronises-with, by a lock or the like.
    Sw,
    /// Reads-from.
    Rf,
    /// Modification order.
    Mo,
    /// From-read.
    Fr,
    /// Order of seq_cst fences.
    Sc,
}

impl Edge {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Po => "po",
            Self::Asw => "asw",
            Self::Sw => "sw",
            Self::Rf => "rf",
            Self::Mo => "mo",
            Self::Fr => "fr",
            Self::Sc => "sc",
        }
    }
}

impl From<rsan_model::Edge> for Edge {
    fn from(edge: rsan_model::Edge) -> Self {
        match edge {
            rsan_model::Edge::Po => Self::Po,
            rsan_model::Edge::Asw => Self::Asw,
            rsan_model::Edge::Rf => Self::Rf,
            rsan_model::Edge::Mo => Self::Mo,
            rsan_model::Edge::Fr => Self::Fr,
            rsan_model::Edge::ScFence => Self::Sc,
        }
    }
}

/// An access of a finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    /// What it is to the finding.
    pub role: Role,
    /// Who makes it; none for the initial value.
    pub thread: Option<Thread>,
    /// What the program calls the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `load`, `store`, `read`, `write`, `free`, the name of a function…
    pub operation: String,
    /// The memory order of an atomic operation.
    pub order: Option<String>,
    /// What is read or written.
    pub value: Option<String>,
    /// Innermost first.
    pub stack: Vec<Frame>,
    /// Where its thread was created.
    pub created: Option<Vec<Frame>>,
    /// What a thread of a deadlock waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// Who has the lock that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<Thread>,
    /// The lock that is taken, in an inversion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    /// The locks that its thread had, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Vec<HeldLock>>,
    /// Where its thread slept between the other access of a race and this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slept: Option<Vec<Frame>>,
}

impl Access {
    /// The thread, with the name that the program has for it.
    pub fn who(&self) -> Option<String> {
        let thread = self.thread.as_ref()?;
        Some(match &self.name {
            Some(name) => format!("{thread} ({name})"),
            None => thread.to_string(),
        })
    }

    /// The same as the subject of a sentence.
    pub fn subject(&self) -> String {
        match (self.who(), &self.thread) {
            (Some(who), Some(Thread::Main)) => format!("the {who}"),
            (Some(who), _) => who,
            (None, _) => "an unknown thread".to_owned(),
        }
    }

    /// Where the user would look for it.
    pub fn place(&self) -> Option<Place> {
        place_of(&self.stack).and_then(Frame::place)
    }

    /// The function that makes the access, behind the library's form of it.
    pub fn maker(&self) -> Option<&Frame> {
        maker_of(&self.stack)
    }

    /// Whether every frame of which something is known is one of theirs.
    pub fn is_within(&self, theirs: impl Fn(&Frame) -> bool) -> bool {
        let mut known = self.stack.iter().filter(|frame| frame.file.is_some());
        known.clone().next().is_some() && known.all(theirs)
    }
}

/// A lock that a thread has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HeldLock {
    /// In words.
    pub lock: String,
    /// How it was taken.
    pub mode: LockMode,
    /// Where it was taken.
    pub stack: Vec<Frame>,
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LockMode {
    /// Shared.
    Read,
    /// Exclusively.
    Write,
}
