//! The answer of a campaign: its schedules in files, and what to say of it.

use super::keep::Files;
use super::tally::Tally;
use super::{Clock, Request};
use crate::sanitizer::findings::{self, Finding, Recorded};
use crate::sanitizer::run::{Conclusion, note_suppressions};
use crate::sanitizer::suppress::Suppressions;
use crate::sanitizer::text;
use crate::sanitizer::verdict::judge;
use crate::session::Reply;
use crate::status::Status;
use rsan_model::Model;
use rsan_report::Style;
use rsan_report::number::{count, plural};
use rsan_schedule::explore::Progress;
use serde::Serialize;
use std::fmt::Write as _;

/// What there is to say of the schedules of a campaign.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Schedules {
    pub(super) strategy: String,
    /// Of the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    /// Steps of a run, as the strategy was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) steps: Option<u64>,
    /// Different executions among the runs that ended.
    pub(super) executions: u64,
    /// The run, from 1, that showed a new one last.
    pub(super) last_new: u64,
    /// Whether it ended because hardly anything new was to be expected, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) saturated: Option<bool>,
    /// Of a search for all executions: how far it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exploration: Option<Exploration>,
    /// Of a replay: runs that showed what was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reproduced: Option<usize>,
    /// Of a replay: the step, from 1, at which the first run left the schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diverged: Option<u64>,
    /// Runs that failed.
    pub(super) failures: Vec<FailedRuns>,
    pub(super) runs_per_second: f64,
    /// The time for all runs was over.
    #[serde(skip)]
    pub(super) out_of_time: bool,
    /// More to say, and what it means for the status.
    #[serde(skip)]
    pub(super) notes: Vec<(Status, String)>,
}

/// How far a search for all executions came.
#[derive(Debug, Serialize)]
pub(crate) struct Exploration {
    /// Whether all executions were seen.
    pub(super) complete: bool,
    executions: u64,
    /// Runs that are no executions.
    excess: u64,
    cut: u64,
    failed: u64,
    diverged: u64,
    /// About how many plans are left, and those that the bound on preemptions left out.
    left: u64,
    preempted: u64,
    /// Executions that there may be altogether.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<u64>,
}

impl Exploration {
    pub(super) fn new(progress: &Progress) -> Self {
        let counts = &progress.counts;
        let complete = progress.is_complete();
        let estimate = progress.estimate().filter(|_| progress.waiting > 0);
        Self {
            complete,
            executions: counts.executions,
            excess: counts.excess,
            cut: counts.cut,
            failed: counts.failed,
            diverged: counts.diverged,
            left: progress.waiting as u64,
            preempted: counts.preempted,
            estimate,
        }
    }

    /// A line about it.
    fn summary(&self) -> String {
        let executions = plural(self.executions, "execution");
        let mut line = match (self.complete, self.estimate) {
            (true, _) => format!("explored: all {executions}"),
            (false, None) => format!("explored: {executions}"),
            (false, Some(all)) => format!("explored: {executions} of about {}", count(all)),
        };
        if self.excess > 0 {
            let runs = plural(self.excess, "run");
            let _ = write!(line, ", and {runs} in excess");
        }
        line.push('\n');
        line
    }
}

/// Runs that failed in the same way.
#[derive(Debug, Serialize)]
pub(crate) struct FailedRuns {
    pub(super) how: String,
    pub(super) runs: usize,
    /// Unless its schedule could not be written.
    pub(super) first: Option<Recorded>,
}

/// The suppressions that the user wants.
pub(super) fn suppressions(request: &Request<'_>) -> Result<Suppressions, String> {
    Suppressions::wanted(request.sanitizer.suppressions.as_deref())
}

/// The findings that the user wants to see, and how many there are that he does not.
pub(super) fn found(tally: &Tally, suppressions: &mut Suppressions) -> (Vec<Finding>, usize) {
    let model = tally.runs.model.unwrap_or(Model::C20);
    let mut found = findings::findings(&tally.runs.findings, model);
    let suppressed = suppressions.apply(&mut found) + tally.runs.suppressed;
    // Every run is a process of the same program.
    found.iter_mut().for_each(|finding| finding.process = None);
    (found, suppressed)
}

/// Whether there is a finding that the user wants to see.
pub(super) fn is_wanted(tally: &Tally, suppressions: &Suppressions) -> bool {
    let model = tally.runs.model.unwrap_or(Model::C20);
    let mut found = findings::findings(&tally.runs.findings, model).into_iter();
    found.any(|finding| !suppressions.suppresses(&finding))
}

/// The answer, with files for the schedules of whatever was found.
pub(super) fn reply(
    request: &Request<'_>,
    tally: Tally,
    mut schedules: Schedules,
    mut suppressions: Suppressions,
    clock: &Clock,
    style: Style,
) -> Result<Reply, String> {
    let (mut found, suppressed) = found(&tally, &mut suppressions);
    let mut files = Files::new(request);
    files.keep_findings(&mut found, &tally, &schedules);
    schedules.failures = files.keep_failures(&tally.failures, &schedules);
    // What was found is told all the same.
    let unwritten = files.unwritten.map(|why| {
        let note = format!("schedules could not be written: {why}");
        (Status::Clean, note)
    });
    schedules.notes.extend(unwritten);
    conclude(
        request,
        tally,
        schedules,
        found,
        (suppressed, &suppressions),
        clock,
        style,
    )
}

/// The answer.
pub(super) fn conclude(
    request: &Request<'_>,
    tally: Tally,
    mut schedules: Schedules,
    found: Vec<Finding>,
    (suppressed, suppressions): (usize, &Suppressions),
    clock: &Clock,
    style: Style,
) -> Result<Reply, String> {
    let runs = tally.runs;
    let (mut status, mut notes) = judge(&runs, &request.program[0], found.len());
    if schedules.out_of_time {
        notes.push("the time limit was reached".to_owned());
        status = status.and(Status::Undecided);
    }
    for (more, note) in std::mem::take(&mut schedules.notes) {
        status = status.and(more);
        notes.push(note);
    }
    note_suppressions(suppressed, suppressions, &mut notes);
    schedules.executions = tally.coverage.distinct();
    schedules.last_new = tally.coverage.last_new();
    let exploration = schedules.exploration.as_ref();
    let mut explored = exploration.is_some_and(|all| all.complete);
    if explored && !request.as_written {
        explored = false;
        if status == Status::Clean {
            let note = "no proof of the source: the compiler may have removed accesses";
            notes.push(note.to_owned());
        }
    }
    let seconds = clock.start.elapsed().as_secs_f64();
    schedules.runs_per_second = (runs.done as f64 / seconds.max(1e-6)).round();
    let summary = match &schedules.exploration {
        Some(exploration) => exploration.summary(),
        None => summary(&schedules, runs.done),
    };
    let failures = failures(&schedules);
    let conclusion = Conclusion {
        command: request.command,
        subject: request.subject,
        status,
        notes,
        found,
        suppressed,
        explored,
        seconds,
        schedules: Some(schedules),
    };
    let mut reply = conclusion.reply(&runs, style);
    let (first, rest) = reply.text.split_once('\n').unwrap_or((&reply.text, ""));
    reply.text = format!("{first}\n{summary}{rest}{failures}");
    Ok(reply)
}

/// A line about the schedules.
fn summary(schedules: &Schedules, runs: usize) -> String {
    let mut line = format!("schedules: {}", schedules.strategy);
    if let Some(seed) = schedules.seed {
        let last = seed.wrapping_add(runs.saturating_sub(1) as u64);
        let _ = match runs {
            0 => Ok(()),
            1 => write!(line, ", seed {seed}"),
            _ => write!(line, ", seeds {seed} to {last}"),
        };
    }
    if runs > 1 {
        let (executions, last) = (schedules.executions, schedules.last_new);
        let s = if executions == 1 { "" } else { "s" };
        let _ = write!(
            line,
            "; {executions} different execution{s}, the last new one in run {last}"
        );
    }
    match schedules.saturated {
        Some(true) => line.push_str("; hardly anything new is to be expected"),
        Some(false) => line.push_str("; more runs would show more"),
        None => {}
    }
    line.push('\n');
    line
}

/// The runs that failed.
fn failures(schedules: &Schedules) -> String {
    let mut text = String::new();
    for failed in &schedules.failures {
        let first = failed.first.as_ref();
        let seed = first.and_then(|first| first.seed);
        let seed = seed.map_or(String::new(), |seed| format!(", first with seed {seed}"));
        let (how, runs) = (&failed.how, text::runs(failed.runs));
        let _ = writeln!(text, "\nfailed: {how}\n  in {runs}{seed}");
        if let Some(first) = first {
            let _ = writeln!(text, "  the same again: {}", first.command);
        }
    }
    text
}
