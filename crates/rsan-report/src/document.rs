//! What a command answers about one input: one type for every command, with the parts that it has.
//!
//! The types are the schema `rsan/2`: a field's name and place change only with the schema's number. Users find it in
//! `docs/json.md`; the renderers of this crate ([`text`](crate::text), [`dot`](crate::dot), …) know nothing else, so a document
//! that was written to a file can be rendered again, in any form, on another machine.

mod access;
mod answer;
mod execution;
mod finding;
mod harm;
mod kind;
mod machines;
mod memory;
mod model;
mod place;
mod port;
mod stats;
mod tested;
mod thread;

pub use access::{Access, Edge, HeldLock, LockMode, Role};
pub use answer::{Condition, FinalState, LitmusAnswer, Repair, RepairChange, RepairKind};
pub use execution::{CycleEdge, Delay, Event, Execution, ModificationOrder, Stale, Step, StepKind};
pub use finding::{Change, Finding, Fix, Process, Recorded, Related};
pub use harm::{Effect, Harm};
pub use kind::{Kind, Property, Severity};
pub use machines::{OnMachine, Shows, Variant, can_happen};
pub use memory::{Context, Memory};
pub use model::Rules;
pub use place::{Excerpt, Frame, Place, STANDARD, maker_of, order_in_rust, place_of};
pub use port::{Method, Port, PortAssumption, PortThread};
pub use stats::{Exploration, FailedRuns, Outcome, Schedules, Stats};
pub use tested::{TestOutcome, Tested};
pub use thread::Thread;

use crate::judgement::Judgement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the documents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum Schema {
    /// The current one.
    #[default]
    #[serde(rename = "rsan/2")]
    V2,
}

/// A command that answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// `rsan verify`
    Verify,
    /// `rsan fence`
    Fence,
    /// `rsan check`
    Check,
    /// `rsan run`
    Run,
    /// `rsan explore`
    Explore,
    /// `rsan litmus`
    Litmus,
    /// `rsan port`
    Port,
}

impl Command {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::Fence => "fence",
            Self::Check => "check",
            Self::Run => "run",
            Self::Explore => "explore",
            Self::Litmus => "litmus",
            Self::Port => "port",
        }
    }
}

/// What was asked about a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// Every execution that the model allows is sequentially consistent.
    Robust,
    /// The same, for any number of copies of each thread.
    RobustForAllInstances,
    /// The same, up to reads whose value is never used.
    Observational,
    /// Assertions hold and nothing races, under sequential consistency.
    Safe,
    /// No load with an unfenced store before it races with a store.
    #[serde(rename = "trf")]
    TriangularRaceFree,
    /// Every execution on one machine is an execution on another one.
    Portable,
}

/// The answer about one input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// The version of this form.
    pub schema: Schema,
    /// Who answers.
    pub command: Command,
    /// The input as the user named it.
    pub subject: String,
    /// The answer. For `fence`, and `port --fix`: about the repaired program.
    pub verdict: Judgement,
    /// The memory model. For `port`: that of the machine it moves to.
    pub model: Rules,
    /// Of a violation: its findings aside, the verdict would be `unknown`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// How severe a finding has to be to decide the exit status; absent: `warning`.
    #[serde(default, skip_serializing_if = "Severity::is_warning")]
    pub fail_on: Severity,
    /// What was asked, unless it was the condition of a litmus test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property: Option<Claim>,
    /// Why the verdict is `unknown`, and what else there is to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The final states of a litmus test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub litmus: Option<LitmusAnswer>,
    /// What `fence` or `port --fix` proposes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Repair>,
    /// From which machine to which one a program moves, and how that was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<Port>,
    /// The repaired program, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What is wrong: what was seen to hurt first, then the most severe.
    pub findings: Vec<Finding>,
    /// The tests of a package, if that is what was run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Tested>,
    /// What it took.
    pub stats: Stats,
    /// The lines of sources that findings name, with their neighbours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Excerpt>,
}

impl Document {
    /// A document without findings.
    pub fn new(
        command: Command,
        subject: &str,
        verdict: Judgement,
        model: impl Into<Rules>,
    ) -> Self {
        Self {
            schema: Schema::V2,
            command,
            subject: subject.to_owned(),
            verdict,
            model: model.into(),
            incomplete: false,
            fail_on: Severity::default(),
            property: None,
            notes: Vec::new(),
            litmus: None,
            repair: None,
            port: None,
            diff: None,
            findings: Vec::new(),
            tests: Vec::new(),
            stats: Stats::default(),
            sources: Vec::new(),
        }
    }

    /// The exit status of the command that answers so.
    pub fn exit_code(&self) -> u8 {
        match self.verdict {
            Judgement::Robust | Judgement::NoFinding => 0,
            Judgement::Violation if self.fails() => 1,
            Judgement::Violation if !self.incomplete => 0,
            Judgement::Violation | Judgement::Unknown => match self.stats.failures.unwrap_or(0) {
                0 => 3,
                _ => 4,
            },
        }
    }

    /// Whether a finding of a violation is severe enough for the exit status; an answer without findings is one itself.
    pub fn fails(&self) -> bool {
        let mut findings = self.findings.iter();
        self.findings.is_empty() || findings.any(|finding| self.fails_by(finding))
    }

    /// Whether a finding counts and is severe enough for the exit status.
    pub fn fails_by(&self, finding: &Finding) -> bool {
        finding.counts() && finding.severity >= self.fail_on
    }

    /// Finds the verdict anew after it was changed which findings count.
    pub fn judge(&mut self) {
        let counts = self.findings.iter().any(Finding::counts);
        self.verdict = match self.verdict {
            Judgement::Violation if !counts && !self.findings.is_empty() => match self.incomplete {
                true => Judgement::Unknown,
                false => Judgement::NoFinding,
            },
            Judgement::NoFinding if counts => Judgement::Violation,
            Judgement::Unknown if counts => {
                self.incomplete = true;
                Judgement::Violation
            }
            same => same,
        };
    }

    /// The line of the source that stands at a place, if it is known.
    pub fn line(&self, place: &Place) -> Option<&str> {
        let (file, line) = (&place.file, place.line?);
        let of_file = self.sources.iter().filter(|excerpt| excerpt.file == *file);
        of_file.filter_map(|excerpt| excerpt.line(line)).next()
    }
}

/// Documents as JSON: one of them alone, or an array when several inputs were given.
///
/// # Panics
/// Never: the documents have string keys and finite numbers only.
pub fn json(documents: &[Document], several: bool) -> String {
    let text = match documents {
        [only] if !several => serde_json::to_string_pretty(only),
        all => serde_json::to_string_pretty(all),
    };
    text.expect("documents have string keys and finite numbers") + "\n"
}

/// The JSON schema of documents, which the types are.
///
/// # Panics
/// Never: a schema has string keys.
pub fn schema() -> String {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Document>();
    serde_json::to_string_pretty(&schema).expect("a schema has string keys") + "\n"
}
