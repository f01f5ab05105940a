//! `rsan check` with a schedule of its own: every execution, or PCT.

use super::outcome::Outcome;
use crate::bench::measure::{Cost, observe};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The command, and a folder for what it writes.
pub(crate) struct Ours {
    pub(crate) command: PathBuf,
    pub(crate) work: PathBuf,
}

impl Ours {
    /// What it does when it is not told otherwise.
    pub(crate) fn free(&self, file: &Path) -> Result<Outcome, String> {
        self.check(&[], file)
    }

    /// Every execution, for at most so many seconds.
    pub(crate) fn exhaustive(&self, file: &Path, limit: u64) -> Result<Outcome, String> {
        let limit = format!("{limit}s");
        self.check(&["--exhaustive", "--time-limit", &limit], file)
    }

    /// So many schedules by PCT.
    pub(crate) fn pct(&self, file: &Path, runs: usize) -> Result<Outcome, String> {
        let runs = runs.to_string();
        self.check(&["--sched", "pct", "--runs", &runs], file)
    }

    fn check(&self, options: &[&str], file: &Path) -> Result<Outcome, String> {
        let mut command = Command::new(&self.command);
        command.args(["check", "--format", "json", "--out"]);
        command.arg(self.work.join("rsan-out"));
        let (output, _, cost) = observe(command.args(options).arg(file))?;
        Ok(read(&output, cost))
    }
}

/// The answer, in JSON.
pub(crate) fn read(output: &str, cost: Cost) -> Outcome {
    let mut outcome = Outcome::new(cost);
    let Ok(answer) = serde_json::from_str::<Value>(output) else {
        outcome.error = Some("no answer".to_owned());
        return outcome;
    };
    let stats = &answer["stats"];
    let schedules = &stats["schedules"];
    outcome.findings = answer["findings"].as_array().map(Vec::len);
    outcome.seconds = stats["seconds"].as_f64();
    outcome.reason = answer["notes"][0].as_str().map(str::to_owned);
    match schedules.get("exploration") {
        Some(explored) => {
            outcome.executions = explored["executions"].as_u64();
            let others = ["excess", "cut", "diverged"];
            outcome.others = others.iter().filter_map(|n| explored[n].as_u64()).sum();
            outcome.complete = explored["complete"] == true;
        }
        // What is compared is how fast runs are made, not how many of them are different.
        None => outcome.executions = stats["runs"].as_u64(),
    }
    if stats["failures"].as_u64() > Some(0) || outcome.executions.is_none() {
        let first = &schedules["failures"][0]["how"];
        outcome.error = Some(first.as_str().unwrap_or("the program fails").to_owned());
    }
    outcome
}
