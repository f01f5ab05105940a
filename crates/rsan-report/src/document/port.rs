//! What `port` answers beside its findings: between which machines, for which threads, and what the answer rests on.

use super::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A question about two machines, and how it was answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Port {
    /// The machine on which the program is right: `sc`, `x86`, `armv8`, `riscv`, `armv7` or `power`.
    pub from: String,
    /// The same as people write it.
    pub from_title: String,
    /// The weaker machine that it moves to.
    pub to: String,
    /// The same as people write it.
    pub to_title: String,
    /// How it was answered.
    pub method: Method,
    /// The functions that threads run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<PortThread>,
    /// Shared accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accesses: Option<u64>,
    /// Pairs of accesses of a thread, the second reachable from the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// Of these, the pairs that are on a cycle through other threads, and have to be ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_cycles: Option<u64>,
    /// Fences, and accesses that are stronger than relaxed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fences: Option<u64>,
    /// Fences that the published scheme inserts, if a repair was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naive: Option<u64>,
    /// The program was taken to have no data races.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub race_free: bool,
    /// What was not understood, and how it was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<PortAssumption>,
}

/// How a question about two machines was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// By an analysis of the code, for any number of threads. A warning may be false.
    Static,
    /// By enumeration of all executions. A violation is one.
    Exact,
}

/// A function that threads run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PortThread {
    /// Its name for people.
    pub function: String,
    /// How it is known.
    pub reason: String,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Place>,
}

/// Something that was not understood.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PortAssumption {
    /// A sentence, without a full stop.
    pub message: String,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Place>,
    /// It could hide a violation: without it, the verdict is `unknown`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsound: bool,
}

impl Port {
    /// What a proof says.
    pub(crate) fn promise(&self) -> String {
        let (from, to) = (&self.from_title, &self.to_title);
        let threads = match self.method {
            Method::Static => ", for any number of threads",
            Method::Exact => "",
        };
        let races = match self.race_free {
            true => ", if it has no data races: `rsan check` looks for them",
            false => "",
        };
        format!("robust from {from} to {to}{threads}{races}")
    }
}
