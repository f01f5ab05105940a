//! What an answer took.

use super::Recorded;
use crate::number::plural;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of a search, or of runs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    /// Distinct states of a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<u64>,
    /// Transitions between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transitions: Option<u64>,
    /// TSO: states of the search for attacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attack_states: Option<u64>,
    /// Steps from the start to the farthest state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// What the states take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Consistent executions of a litmus test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
    /// Runs of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// Runs that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
    /// Those of them in which time was simulated, and the program slept or waited until a limit was over.
    #[serde(skip)]
    pub timed_failures: u64,
    /// Runs that reached the time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u64>,
    /// Processes that had the runtime, in all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Findings that the user does not want to see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<u64>,
    /// What was found inside Rust's standard library, and is not shown: the kind, the functions and their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_standard: Vec<String>,
    /// Findings that the baseline has already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<u64>,
    /// Time.
    pub seconds: f64,
    /// Of runs under controlled scheduling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedules: Option<Schedules>,
}

impl Stats {
    /// What there is to say about findings inside the standard library that are not shown.
    pub fn of_standard(&self) -> Option<String> {
        let number = self.in_standard.len() as u64;
        let (are, them) = if number == 1 {
            ("is", "it")
        } else {
            ("are", "them")
        };
        let findings = plural(number, "finding");
        let note = format!(
            "{findings} inside the standard library {are} not shown, --include-std shows {them}"
        );
        (number > 0).then_some(note)
    }
}

/// Runs under controlled scheduling.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Schedules {
    /// Who ran next.
    pub strategy: String,
    /// Of the first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Of a part of the runs: how far apart their seeds are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<u64>,
    /// Steps of a run, as the strategy was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Different executions among the runs that ended.
    pub executions: u64,
    /// The run, from 1, that showed a new one last.
    pub last_new: u64,
    /// Whether it ended because hardly anything new was to be expected, if that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturated: Option<bool>,
    /// Of a search for all executions: how far it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploration: Option<Exploration>,
    /// Of a replay: runs that showed what was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduced: Option<u64>,
    /// Of a replay: the step, from 1, at which the first run left the schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverged: Option<u64>,
    /// Runs that failed.
    #[serde(default)]
    pub failures: Vec<FailedRuns>,
    /// The rate.
    pub runs_per_second: f64,
}

/// How far a search for all executions came.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Exploration {
    /// Whether all executions were seen.
    pub complete: bool,
    /// Executions.
    pub executions: u64,
    /// Runs that are no executions.
    pub excess: u64,
    /// Runs that took too many steps.
    pub cut: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that left their plan.
    pub diverged: u64,
    /// About how many plans are left.
    pub left: u64,
    /// Plans that the bound on preemptions left out.
    pub preempted: u64,
    /// Executions that there may be altogether.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<u64>,
    /// What weak executions came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Outcome>,
}

/// What some executions come to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// What they print.
    pub output: String,
    /// How they end, in words; nothing for status 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// How many.
    pub executions: u64,
}

/// Runs that failed in the same way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FailedRuns {
    /// In words.
    pub how: String,
    /// How many.
    pub runs: u64,
    /// Unless its schedule could not be written.
    pub first: Option<Recorded>,
}
