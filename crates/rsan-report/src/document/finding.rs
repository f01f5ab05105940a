//! A finding.

use super::{
    Access, Execution, Harm, Kind, Memory, OnMachine, Place, Property, Rules, Severity, Thread,
    can_happen,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is wrong with a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// How much it matters.
    pub severity: Severity,
    /// What fails.
    pub property: Property,
    /// One sentence, without a full stop.
    pub message: String,
    /// What it is about, in words: a variable, a lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Whose access it is.
    pub thread: Option<Thread>,
    /// Where.
    pub location: Option<Place>,
    /// What happens at the location, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The other places that belong to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// More sentences that explain it: what was too weak, what the program does with a stale value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    /// All its accesses are inside libraries that the user did not write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_libraries: bool,
    /// The baseline has it already: it does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// Whether it hurts, if that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harm: Option<Harm>,
    /// The cheapest change that is known to help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
    /// How it comes about: of `verify`, and of weak behaviours of compiled programs whose cycle is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// Which processors can show it, if that was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<OnMachine>,
    /// In how many runs it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// The tests of a package that showed it, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Who showed it, if the program has several processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// The address of the access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// In bytes; not of locks and frees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// What is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Of a program that was run: the accesses, with their stacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<Access>,
    /// The stale value is the one that is read anyway.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_value: bool,
    /// A schedule that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
}

impl Finding {
    /// A finding of which only this is known.
    pub fn new(kind: Kind, severity: Severity, message: String) -> Self {
        Self {
            kind,
            severity,
            property: kind.property(),
            message,
            object: None,
            thread: None,
            location: None,
            label: None,
            related: Vec::new(),
            because: Vec::new(),
            in_libraries: false,
            known: false,
            harm: None,
            fix: None,
            execution: None,
            machines: Vec::new(),
            runs: None,
            tests: Vec::new(),
            process: None,
            address: None,
            size: None,
            memory: None,
            accesses: Vec::new(),
            same_value: false,
            recorded: None,
        }
    }
}

impl Finding {
    /// Whether it decides the verdict.
    pub fn counts(&self) -> bool {
        !self.known && !self.in_libraries
    }

    /// Whether it was seen to hurt, and how severe it is: findings stand in a document in the descending order of this.
    pub fn rank(&self) -> (bool, Severity) {
        let hurts = self.harm.as_ref().is_some_and(Harm::is_harmful);
        (hurts, self.severity)
    }

    /// Takes over what was seen of its harm: what hurts is an error.
    pub fn set_harm(&mut self, harm: Harm) {
        if harm.is_harmful() {
            self.severity = Severity::Error;
        }
        self.harm = Some(harm);
    }

    /// What it is, in a few words: `data race on `x``, `not robust against rc20`.
    pub fn headline(&self, model: Option<Rules>) -> String {
        let title = self.kind.title();
        match (self.kind, &self.object, model) {
            (Kind::WeakBehaviour | Kind::ObservedWeakBehaviour, _, Some(model)) => {
                format!("{title} against {model}")
            }
            (Kind::Reordering, Some(object), _) => format!("{title} of {object}"),
            (Kind::DataRace | Kind::TriangularRace, Some(object), _) => {
                format!("{title} on {object}")
            }
            _ => title.to_owned(),
        }
    }

    /// Which machines can show it, in words, if that was asked. A race is one everywhere; what differs is whether the accesses take
    /// effect in the order in which they should be.
    pub fn can_happen(&self) -> Option<String> {
        let machines = can_happen(&self.machines)?;
        Some(match self.kind {
            Kind::DataRace => format!("the wrong order {machines}"),
            _ => machines,
        })
    }

    /// The same finding as another document may have it: its kind, and the places of its accesses in the sources.
    pub fn places(&self) -> Vec<&Place> {
        let related = self.related.iter().map(|related| &related.location);
        self.location.iter().chain(related).collect()
    }
}

/// Another place that belongs to a finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Related {
    /// What happens there, in a few words.
    pub message: String,
    /// Where.
    pub location: Place,
}

/// A change that forbids what was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Fix {
    /// What to do, as a sentence in the imperative without a full stop.
    pub message: String,
    /// How sure that is: what was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
    /// The same for machines; empty if it is not about orders and fences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// A change of the source. Events are those of the execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Change {
    /// A new fence between two events.
    Fence {
        /// Its order.
        order: String,
        /// The event before it.
        after: u32,
        /// The event after it.
        before: u32,
        /// After which line it may stand.
        location: Option<Place>,
    },
    /// Another order for an event.
    Order {
        /// The event.
        event: u32,
        /// What stands there.
        from: String,
        /// What should.
        to: String,
        /// Where.
        location: Option<Place>,
    },
}

/// A process that showed a finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its command line, if it is known.
    pub command: Option<String>,
}

/// A run that can be made again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// Of the strategy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The schedule.
    pub file: String,
    /// What makes the run again.
    pub command: String,
}
