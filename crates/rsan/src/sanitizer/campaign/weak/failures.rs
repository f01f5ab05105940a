//! Failures of weak runs as findings: unlike those of other runs, they are what is looked for, unless the program fails by itself.

use super::super::Request;
use super::super::execution::Execution;
use super::super::sample::Length;
use super::super::tally::{Failure, Tally, is_same};
use crate::sanitizer::convert::{Resolver, failed, severity};
use crate::sanitizer::findings::Found;
use crate::sanitizer::verdict::described;
use rsan_log::Failure as Said;
use rsan_model::Model;
use rsan_report::document::{Finding, Kind};
use rsan_report::number::count;
use rsan_schedule::{End, Schedule};
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What the program does by itself, in a sequentially consistent run.
pub(in super::super) struct Reference {
    end: Option<End>,
    said: Option<Said<'static>>,
    pub(super) length: Length,
}

impl Reference {
    pub(super) fn new(execution: &Execution) -> Self {
        Self {
            end: Some(execution.end()),
            said: execution.record.failed.clone(),
            length: Length::of(&execution.header),
        }
    }

    /// Nothing is known of it.
    pub(in super::super) fn unknown() -> Self {
        Self {
            end: None,
            said: None,
            length: Length {
                steps: 0,
                choices: 1,
            },
        }
    }

    /// Whether a run that ends so shows a finding: it fails, or does not end, and the program does not by itself.
    pub(in super::super) fn is_finding(&self, end: End, said: Option<&Said<'_>>) -> bool {
        match end {
            End::Failed(_) => self.end != Some(end) || !is_same(self.said.as_ref(), said),
            // A run that is cut off may be a long one; the program by itself is no longer one, then.
            End::CutOff | End::Timeout => self.end.is_none_or(End::is_complete),
            End::Silent
            | End::Ended
            | End::EndedLast
            | End::Deadlock
            | End::Stopped
            | End::Fatal
            | End::Forked
            | End::Diverged
            | End::ServerDied
            | End::Interrupted
            | End::Halted => false,
        }
    }
}

/// Takes the failures that are findings out of a tally.
pub(in super::super) fn take(
    tally: &mut Tally,
    reference: &Reference,
    request: &Request<'_>,
) -> Vec<Found> {
    let all = std::mem::take(&mut tally.failures);
    let (found, left): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|failure| reference.is_finding(failure.end, failure.said.as_ref()));
    tally.failures = left;
    let runs = &mut tally.runs;
    for failure in &found {
        match failure.end {
            End::Failed(_) => runs.failures -= failure.in_runs.len(),
            End::CutOff => runs.cut -= failure.in_runs.len(),
            End::Timeout => runs.timeouts -= failure.in_runs.len(),
            _ => {}
        }
        tally
            .schedules
            .entry(failure.first)
            .or_insert_with(|| failure.schedule.clone());
    }
    (runs.failure, runs.failed) = (None, None);
    for failure in &tally.failures {
        if let End::Failed(status) = failure.end {
            runs.failures -= failure.in_runs.len();
            for _ in &failure.in_runs {
                runs.fails(ExitStatus::from_raw(status), failure.said.clone());
            }
        }
    }
    let found = found.into_iter();
    found
        .map(|failure| of(failure, reference, request))
        .collect()
}

/// A failure as a finding.
fn of(failure: Failure, reference: &Reference, request: &Request<'_>) -> Found {
    let mut finding = finding(&failure, reference, request);
    finding.runs = Some(failure.in_runs.len() as u64);
    Found::new(finding, failure.in_runs)
}

/// What is found in how one run ends.
pub(in super::super) fn of_run(
    execution: &Execution,
    reference: &Reference,
    request: &Request<'_>,
) -> Option<Found> {
    let failure = Failure {
        end: execution.end(),
        first: 0,
        in_runs: BTreeSet::from([0]),
        schedule: Schedule::default(),
        said: execution.record.failed.clone(),
    };
    reference
        .is_finding(failure.end, failure.said.as_ref())
        .then(|| of(failure, reference, request))
}

/// What is known of it.
fn finding(failure: &Failure, reference: &Reference, request: &Request<'_>) -> Finding {
    let end = failure.end;
    if let (End::Failed(_), Some(said)) = (end, &failure.said) {
        return failed(said, &mut Resolver::new(Model::C20));
    }
    let how = described(end);
    let (kind, message) = match end {
        End::Failed(status) if ExitStatus::from_raw(status).signal().is_some() => {
            (Kind::Crash, format!("the program ends by {how}"))
        }
        End::Failed(_) => (Kind::Failure, format!("the program ends with {how}")),
        End::CutOff => (Kind::Hang, unended(reference, request)),
        _ => {
            let seconds = request.timeout().as_secs_f64();
            let message = format!("the program has not ended after {seconds} s");
            (Kind::Hang, message)
        }
    };
    Finding::new(kind, severity(kind), message)
}

/// What there is to say of a run that took too many steps.
fn unended(reference: &Reference, request: &Request<'_>) -> String {
    let steps = count(request.limit());
    let message = format!("the program has not ended after {steps} steps");
    match reference.end {
        Some(_) => {
            let usual = count(reference.length.steps);
            format!("{message}, a sequentially consistent run ends after {usual}")
        }
        None => message,
    }
}
