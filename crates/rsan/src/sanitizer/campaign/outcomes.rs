//! What the executions of a program come to: how they end, and what they print.

use super::execution::Execution;
use crate::sanitizer::verdict::described;
use rsan_report::document;
use std::collections::BTreeMap;

/// How many executions came to the same.
#[derive(Clone, Default)]
pub(super) struct Outcomes(BTreeMap<Outcome, u64>);

/// What an execution comes to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Outcome {
    output: String,
    end: String,
}

/// What is kept of the output of a run, in bytes.
const LONGEST: usize = 4096;
/// Different outcomes; more are not told apart.
const MOST: usize = 10_000;

impl Outcomes {
    /// Counts an execution.
    pub(super) fn add(&mut self, execution: &Execution, blocked: bool) {
        let mut output = execution.output.clone().unwrap_or_default();
        let mut end = LONGEST.min(output.len());
        while !output.is_char_boundary(end) {
            end -= 1;
        }
        output.truncate(end);
        let end = match blocked {
            true => "threads wait for ever".to_owned(),
            false if execution.status.success() => String::new(),
            false => described(execution.end()),
        };
        let outcome = Outcome { output, end };
        if self.0.len() < MOST || self.0.contains_key(&outcome) {
            *self.0.entry(outcome).or_default() += 1;
        }
    }

    /// For the report.
    pub(super) fn document(&self) -> Vec<document::Outcome> {
        let outcome = |(outcome, executions): (&Outcome, &u64)| document::Outcome {
            output: outcome.output.clone(),
            end: Some(outcome.end.clone()).filter(|end| !end.is_empty()),
            executions: *executions,
        };
        self.0.iter().map(outcome).collect()
    }

    /// Those that were written to a file.
    pub(super) fn restore(&mut self, all: Vec<document::Outcome>) {
        for known in all {
            let outcome = Outcome {
                output: known.output,
                end: known.end.unwrap_or_default(),
            };
            self.0.insert(outcome, known.executions);
        }
    }
}
