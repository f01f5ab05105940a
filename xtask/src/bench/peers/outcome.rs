//! What a tool did with a program.

use crate::bench::measure::Cost;
use serde::Serialize;

/// What a tool did with a program, as it tells itself; and what that took.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    /// Executions that came to their end.
    pub(crate) executions: Option<u64>,
    /// Others: those that only waited at their end, were cut off, or equal one that was seen.
    pub(crate) others: u64,
    /// Whether nothing is left.
    pub(crate) complete: bool,
    /// Findings about weak memory, of a tool that has them.
    pub(crate) findings: Option<usize>,
    /// Seconds of exploring only, if the tool tells.
    pub(crate) seconds: Option<f64>,
    /// What it complained about: an assertion that fails, or something that it cannot do.
    pub(crate) error: Option<String>,
    /// Why something is left, if the tool tells.
    pub(crate) reason: Option<String>,
    /// The whole process.
    pub(crate) cost: Cost,
}

impl Outcome {
    /// Nothing is known yet.
    pub(crate) fn new(cost: Cost) -> Self {
        Self {
            executions: None,
            others: 0,
            complete: false,
            findings: None,
            seconds: None,
            error: None,
            reason: None,
            cost,
        }
    }

    /// The number of executions, for a table: `6`, `6 + 2` with two others, `> 900` if there are more, `failed`.
    pub(crate) fn count(&self) -> String {
        let others = match self.others {
            0 => String::new(),
            others => format!(" + {others}"),
        };
        match (self.executions, &self.error) {
            (_, Some(_)) => "failed".to_owned(),
            (None, None) => "no answer".to_owned(),
            (Some(executions), None) if self.complete => format!("{executions}{others}"),
            (Some(executions), None) => format!("> {executions}{others}"),
        }
    }

    /// Executions for each CPU second of the whole process.
    pub(crate) fn rate(&self) -> Option<f64> {
        let all = self.executions? + self.others;
        (self.cost.cpu > 0.0).then(|| all as f64 / self.cost.cpu)
    }
}

/// The number after a text in an output.
pub(crate) fn number_after(output: &str, text: &str) -> Option<f64> {
    let (_, rest) = output.split_once(text)?;
    let rest = rest.trim_start();
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().ok()
}
