//! Model checkers for C that the user has: GenMC and Nidhugg.

use super::outcome::{Outcome, number_after};
use crate::bench::measure::{Cost, observe};
use std::path::Path;
use std::process::Command;

/// A checker that reads C files.
pub(crate) struct Checker {
    command: String,
    /// What it is called and which version it says it has.
    pub(crate) version: String,
    labels: Labels,
}

impl Checker {
    /// GenMC, from RSAN_GENMC or the search path.
    pub(crate) fn genmc() -> Result<Self, String> {
        Self::found("RSAN_GENMC", "genmc", GENMC)
    }

    /// Nidhugg's driver, from RSAN_NIDHUGG or the search path.
    pub(crate) fn nidhugg() -> Result<Self, String> {
        Self::found("RSAN_NIDHUGG", "nidhuggc", NIDHUGG)
    }

    fn found(variable: &str, command: &str, labels: Labels) -> Result<Self, String> {
        let named = std::env::var(variable).ok();
        let command = named.clone().unwrap_or_else(|| command.to_owned());
        let told = Command::new(&command).arg("--version").output();
        match told {
            Ok(told) => Ok(Self {
                version: version(&String::from_utf8_lossy(&told.stdout)),
                command,
                labels,
            }),
            Err(error) if named.is_some() => {
                Err(format!("cannot run {variable}={command}: {error}"))
            }
            Err(_) => Err(format!("not installed ({variable} names no command)")),
        }
    }

    /// Runs it on a file, for at most so many seconds.
    pub(crate) fn check(
        &self,
        options: &[&str],
        file: &Path,
        limit: u64,
    ) -> Result<Outcome, String> {
        let mut command = Command::new("timeout");
        command.arg(limit.to_string()).arg(&self.command);
        // Both print errors of their own and of the compiler elsewhere.
        let script = "exec \"$@\" 2>&1";
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]);
        shell.arg(command.get_program()).args(command.get_args());
        let (output, status, cost) = observe(shell.args(options).arg(file))?;
        let mut outcome = self.labels.read(&output, cost);
        let out_of_time = status.code() == Some(124);
        if !out_of_time && outcome.executions.is_none() && outcome.error.is_none() {
            outcome.error = Some(complaint(&output));
        }
        Ok(outcome)
    }
}

/// The first line that names a version.
fn version(output: &str) -> String {
    let mut lines = output.lines().map(str::trim);
    let line = lines.find(|line| line.contains(|c: char| c.is_ascii_digit()));
    line.unwrap_or("of an unknown version").to_owned()
}

/// The line that tells most of what is wrong.
fn complaint(output: &str) -> String {
    let lines = || {
        output
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let line = lines().find(|line| line.to_ascii_lowercase().contains("error"));
    line.or(lines().next_back())
        .unwrap_or("it says nothing")
        .to_owned()
}

/// How a checker says what it found; all say "No errors were detected", and the time, in the same words.
pub(crate) struct Labels {
    executions: &'static str,
    /// Executions that came to nothing, by their reasons.
    others: &'static [&'static str],
}

/// What GenMC prints at its end.
pub(crate) const GENMC: Labels = Labels {
    executions: "Number of complete executions explored:",
    others: &["Number of blocked executions seen:"],
};

/// What Nidhugg prints at its end.
pub(crate) const NIDHUGG: Labels = Labels {
    executions: "Trace count:",
    others: &[
        "Await-blocked trace count:",
        "Assume-blocked trace count:",
        "Sleepset-blocked trace count:",
    ],
};

impl Labels {
    /// What the output says.
    pub(crate) fn read(&self, output: &str, cost: Cost) -> Outcome {
        let number = |text| number_after(output, text);
        let executions = number(self.executions);
        let mut outcome = Outcome::new(cost);
        outcome.executions = executions.map(|n| n as u64);
        let others = self.others.iter().filter_map(|text| number(text));
        outcome.others = others.map(|n| n as u64).sum();
        outcome.complete = output.contains("No errors were detected");
        outcome.seconds = number("Total wall-clock time:");
        if executions.is_some() && !outcome.complete {
            outcome.error = Some(complaint(output));
        }
        outcome
    }
}
