//! What to verify, and how far to go.

use rsan_model::Model;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What a program is verified for. Assertions and data races are always checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Property {
    /// Every execution that the model allows is sequentially consistent.
    Robust,
    /// The same, up to reads whose value has no influence (POPL 2021).
    Observational,
    /// Only assertions and data races, under sequential consistency.
    Safe,
}

impl Property {
    /// All properties.
    pub const ALL: [Self; 3] = [Self::Robust, Self::Observational, Self::Safe];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Robust => "robust",
            Self::Observational => "observational",
            Self::Safe => "safe",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Property {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|p| p.name() == text)
            .ok_or_else(|| {
                format!("unknown property `{text}` (known: robust, observational, safe)")
            })
    }
}

/// What to verify, and how far to go.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The memory model: RA, RC20 or C20.
    pub model: Model,
    /// The property.
    pub property: Property,
    /// Whether a state in which no thread can move, and some have not ended, is a fault.
    pub deadlock: bool,
    /// Bytes of memory that states may take; then the answer is unknown.
    pub memory_limit: Option<u64>,
    /// Time that the search may take; then the answer is unknown.
    pub time_limit: Option<Duration>,
    /// Number of worker threads; 0 means one per core.
    pub workers: usize,
    /// Set by somebody else (a signal handler) to end the search early.
    pub stop: Option<&'a AtomicBool>,
}

impl Options<'_> {
    /// The defaults for a model: robustness, no deadlock check, no limits, all cores.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            property: Property::Robust,
            deadlock: false,
            memory_limit: None,
            time_limit: None,
            workers: 0,
            stop: None,
        }
    }
}

/// How a search is going, and how it went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Distinct states found.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Length of the longest shortest schedule so far, in visible steps.
    pub depth: u32,
    /// Bytes that the states take.
    pub memory: u64,
    /// Time since the start.
    pub elapsed: Duration,
}

impl Stats {
    /// The figures of two searches, one after the other; `later` has the time of both.
    pub(crate) fn and(&self, later: &Self) -> Self {
        Self {
            states: self.states + later.states,
            transitions: self.transitions + later.transitions,
            depth: self.depth.max(later.depth),
            memory: self.memory.max(later.memory),
            elapsed: later.elapsed,
        }
    }
}
