//! An exploration in a file, with what it has found, to go on with later.

use super::explorer::{Executions, Explorer};
use super::outcomes::Outcomes;
use super::tally::Tally;
use crate::files;
use crate::sanitizer::record::{Logged, Record, Undecided};
use rsan_log::{Entry, Event, Line};
use rsan_report::document::Outcome;
use rsan_schedule::Schedule;
use rsan_schedule::explore::Bounds;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The file.
pub(super) struct Checkpoint<'a>(&'a Path);

#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    /// As [`Explorer::save`] writes it.
    exploration: String,
    /// Runs with something new.
    runs: Vec<Kept>,
    /// What could not be decided in some run, as lines of a log.
    undecided: String,
    /// What weak executions came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outcomes: Vec<Outcome>,
    /// Of a part: stands for what was dealt out to all parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dealt: Option<String>,
}

/// Where an exploration was.
pub(super) struct State<'s> {
    pub(super) tally: &'s mut Tally,
    pub(super) outcomes: &'s mut Outcomes,
    /// Of a part: stands for what was dealt out to all parts.
    pub(super) dealt: &'s mut Option<u128>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    /// Lines of a log.
    findings: String,
    schedule: String,
}

const SCHEMA: &str = "rsan-checkpoint/4";

impl<'a> Checkpoint<'a> {
    pub(super) fn at(file: &'a Path) -> Self {
        Self(file)
    }

    /// The exploration in the file, with its findings; a new one if there is no file.
    ///
    /// # Errors
    /// The message for the user.
    pub(super) fn load(
        &self,
        executions: Executions,
        bounds: Bounds,
        state: State<'_>,
    ) -> Result<Explorer, String> {
        let name = self.0.display();
        if fs::metadata(self.0).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(format!("{name}: not a checkpoint"));
        }
        let text = match files::read_text(self.0, files::LARGE) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Explorer::new(executions, bounds));
            }
            Err(error) => return Err(format!("{name}: {error}")),
        };
        let document: Document =
            serde_json::from_str(&text).map_err(|_| format!("{name}: not a checkpoint"))?;
        if document.schema != SCHEMA {
            return Err(format!("{name}: a checkpoint of another version"));
        }
        let fail = |error: String| format!("{name}: {error}");
        same_preemptions(&document.exploration, bounds).map_err(fail)?;
        let explorer = Explorer::load(executions, &rebounded(&document.exploration, bounds));
        let explorer = explorer.map_err(|error| fail(error.to_string()))?;
        let read = |log: &str| match Record::new(log) {
            record if record.unreadable == 0 => Ok(record),
            _ => Err(format!("{name}: not a checkpoint")),
        };
        let State {
            tally,
            outcomes,
            dealt,
        } = state;
        let digest = document.dealt.as_deref();
        *dealt = digest.and_then(|digest| u128::from_str_radix(digest, 16).ok());
        outcomes.restore(document.outcomes);
        tally.undecided.extend(read(&document.undecided)?.undecided);
        for kept in document.runs {
            let schedule = kept.schedule.parse::<Schedule>();
            let schedule = schedule.map_err(|error| fail(error.to_string()))?;
            tally.restore(read(&kept.findings)?.findings, schedule);
        }
        tally.runs.done = usize::try_from(explorer.progress().counts.runs()).unwrap_or(usize::MAX);
        // Only runs with the runtime are counted.
        tally.runs.main_seen = tally.runs.done > 0;
        Ok(explorer)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The message for the user.
    pub(super) fn save(
        &self,
        explorer: &Explorer,
        tally: &Tally,
        outcomes: &Outcomes,
        dealt: Option<u128>,
    ) -> Result<(), String> {
        let runs = tally.kept.iter().map(|(run, findings)| Kept {
            findings: findings.iter().map(finding_line).collect(),
            schedule: tally
                .schedules
                .get(run)
                .map_or(String::new(), Schedule::to_string),
        });
        let document = Document {
            schema: SCHEMA.to_owned(),
            exploration: explorer.save(),
            runs: runs.collect(),
            undecided: tally.undecided.iter().map(undecided_line).collect(),
            outcomes: outcomes.document(),
            dealt: dealt.map(|digest| format!("{digest:032x}")),
        };
        let fail = |error: std::io::Error| format!("{}: {error}", self.0.display());
        let text = serde_json::to_string(&document).map_err(|error| fail(error.into()))?;
        files::write(self.0, text.as_bytes()).map_err(fail)
    }
}

/// A finding as it was logged.
fn finding_line(logged: &Logged) -> String {
    let entry = Entry::Finding {
        finding: Box::new(logged.finding.clone()),
        step: logged.step,
    };
    let pid = logged.process.pid;
    format!("{}\n", Line { pid, entry })
}

/// A line about what could not be decided; this process says so, whichever did before.
fn undecided_line(undecided: &Undecided) -> String {
    let event = Event::Undecided {
        message: undecided.message.as_str().into(),
        stack: undecided.stack.clone(),
    };
    let (pid, entry) = (std::process::id(), event.into());
    format!("{}\n", Line { pid, entry })
}

/// What a bound on preemptions has left out is not in the file, so another one cannot be had.
fn same_preemptions(exploration: &str, bounds: Bounds) -> Result<(), String> {
    let mut words = exploration.split_whitespace();
    let saved = words.find_map(|word| word.strip_prefix("preemptions="));
    match (saved, bounds.preemptions) {
        (Some("-"), Some(_)) => {
            Err("began without --max-preemptions, which cannot be changed".to_owned())
        }
        (Some(saved), Some(wanted)) if saved != wanted.to_string() => Err(format!(
            "began with --max-preemptions {saved}, which cannot be changed"
        )),
        _ => Ok(()),
    }
}

/// The exploration with the bounds on runs and steps that are wanted now.
fn rebounded(exploration: &str, bounds: Bounds) -> String {
    let number = |bound: Option<u64>| bound.map_or("-".to_owned(), |n| n.to_string());
    let (runs, steps) = (number(bounds.runs), number(bounds.steps.map(u64::from)));
    let lines = exploration.lines().map(|line| {
        if !line.starts_with("bounds ") {
            return line.to_owned();
        }
        let words = line.split(' ').map(|word| match word.split_once('=') {
            Some(("runs", _)) => format!("runs={runs}"),
            Some(("steps", _)) => format!("steps={steps}"),
            _ => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    });
    lines.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_on_preemptions_cannot_change() {
        let bounds = |preemptions| Bounds {
            preemptions,
            ..Bounds::default()
        };
        let check = |saved, wanted| {
            let text = Explorer::new(Executions::Sequential, bounds(saved)).save();
            same_preemptions(&text, bounds(wanted)).err()
        };
        assert_eq!(check(Some(2), Some(2)), None);
        assert_eq!(check(Some(2), None), None);
        assert_eq!(check(None, None), None);
        let message = "began with --max-preemptions 2, which cannot be changed";
        assert_eq!(check(Some(2), Some(3)).as_deref(), Some(message));
        let message = "began without --max-preemptions, which cannot be changed";
        assert_eq!(check(None, Some(3)).as_deref(), Some(message));
    }

    #[test]
    fn the_bounds_on_runs_and_steps_can_change() {
        let bounds = Bounds {
            runs: Some(3),
            preemptions: Some(2),
            ..Bounds::default()
        };
        let saved = Explorer::new(Executions::Sequential, bounds);
        let bounds = Bounds {
            steps: Some(7),
            ..Bounds::default()
        };
        let text = rebounded(&saved.save(), bounds);
        assert!(text.contains("runs=- steps=7 preemptions=2\n"), "{text}");
        assert!(Explorer::load(Executions::Sequential, &text).is_ok());
    }
}
