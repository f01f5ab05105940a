//! What all runs showed. Runs are added in their order, so the same campaign always has the same tally.

use super::execution::Execution;
use crate::sanitizer::execute::Runs;
use crate::sanitizer::record::{Fatal, Logged, Undecided};
use rsan_log::{Failure as Said, Manner};
use rsan_model::Model;
use rsan_schedule::{Coverage, End, Fingerprint, Schedule};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What is kept of a run.
pub(super) struct Trial {
    pub(super) end: End,
    fingerprint: Fingerprint,
    findings: Vec<Logged>,
    unreadable: usize,
    suppressed: usize,
    fatal: Option<Fatal>,
    pub(super) failed: Option<Said<'static>>,
    undecided: Vec<Undecided>,
    model: Option<Model>,
    /// Of runs that showed something.
    schedule: Option<Schedule>,
    /// It slept, or waited until a limit of time was over.
    timed: bool,
}

impl Trial {
    pub(super) fn new(execution: Execution) -> Self {
        let end = execution.end();
        let record = &execution.record;
        let nothing = end.is_complete() && record.findings.is_empty() && record.unreadable == 0;
        let schedule = (!nothing).then(|| execution.schedule());
        let Execution {
            record,
            trace,
            model,
            header,
            ..
        } = execution;
        Self {
            end,
            fingerprint: Fingerprint::of(&trace.steps),
            findings: record.findings,
            unreadable: record.unreadable,
            suppressed: record.suppressed,
            fatal: record.fatal,
            failed: record.failed,
            undecided: record.undecided,
            model,
            schedule,
            timed: header.timed,
        }
    }

    /// The same of a run that did not do what another one had done.
    pub(super) fn diverged(execution: Execution) -> Self {
        let schedule = Some(execution.schedule());
        let trial = Self::new(execution);
        let end = match trial.end {
            end if end.is_complete() => End::Diverged,
            end => end,
        };
        Self {
            end,
            schedule,
            ..trial
        }
    }
}

/// Runs that failed in the same way.
pub(super) struct Failure {
    pub(super) end: End,
    /// The first one.
    pub(super) first: usize,
    pub(super) in_runs: BTreeSet<usize>,
    pub(super) schedule: Schedule,
    /// What the program said of it.
    pub(super) said: Option<Said<'static>>,
}

/// Whether a program says the same of two failures: how and where it fails, whatever thread does.
pub(super) fn is_same(one: Option<&Said<'_>>, other: Option<&Said<'_>>) -> bool {
    let key = |said: &Said<'_>| {
        let manner = match &said.manner {
            // Addresses differ from run to run.
            Manner::Signal { number, .. } => Manner::Signal {
                number: *number,
                address: None,
            },
            other => other.clone(),
        };
        format!("{manner:?} {:?}", said.stack.first())
    };
    one.map(key) == other.map(key)
}

/// What all runs showed.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) runs: Runs,
    pub(super) coverage: Coverage,
    /// Of the runs that showed a finding first.
    pub(super) schedules: BTreeMap<usize, Schedule>,
    /// Of the same runs: their findings.
    pub(super) kept: BTreeMap<usize, Vec<Logged>>,
    /// What could not be decided in some run.
    pub(super) undecided: BTreeSet<Undecided>,
    /// In the order of their first runs.
    pub(super) failures: Vec<Failure>,
    /// Failures with the same status are different ones if the program says so.
    pub(super) tells_failures_apart: bool,
}

impl Tally {
    /// Adds the next run. Says whether it has a finding that is new.
    pub(super) fn add(&mut self, trial: Trial) -> bool {
        let runs = &mut self.runs;
        let run = runs.done;
        runs.done += 1;
        runs.main_seen = true;
        runs.processes += 1;
        runs.suppressed = runs.suppressed.max(trial.suppressed);
        runs.model = runs.model.or(trial.model);
        runs.unreadable += trial.unreadable;
        self.undecided.extend(trial.undecided);
        let new = runs.findings.add(run, &trial.findings);
        if let Some(schedule) = trial.schedule.as_ref().filter(|_| new) {
            self.schedules.insert(run, schedule.clone());
            self.kept.insert(run, trial.findings);
        }
        match trial.end {
            End::Ended | End::EndedLast | End::Deadlock | End::Stopped | End::Diverged => {}
            End::CutOff => runs.cut += 1,
            End::Timeout => runs.timeouts += 1,
            End::Forked => runs.forks += 1,
            End::Silent => runs.vanished += 1,
            End::ServerDied => runs.deaths += 1,
            End::Interrupted => runs.interrupted = true,
            End::Halted => runs.halted = true,
            End::Fatal => {
                runs.fatals += 1;
                if let Some(fatal) = trial.fatal {
                    runs.fatal.get_or_insert(fatal);
                }
            }
            End::Failed(status) => {
                runs.fails(ExitStatus::from_raw(status), trial.failed.clone());
                runs.timed_failures += usize::from(trial.timed);
            }
        }
        if trial.end.is_complete() {
            self.coverage.record(trial.fingerprint);
        } else {
            let schedule = trial.schedule.unwrap_or_default();
            self.fail(run, trial.end, trial.failed, schedule);
        }
        new
    }

    /// Whether a run has a finding that no other has.
    pub(super) fn is_new(&self, trial: &Trial) -> bool {
        let known = &self.runs.findings;
        trial
            .findings
            .iter()
            .any(|logged| !known.has(&logged.finding))
    }

    /// Takes over what a run showed that an earlier campaign made.
    pub(super) fn restore(&mut self, findings: Vec<Logged>, schedule: Schedule) {
        let run = self.kept.len();
        self.runs.main_seen = true;
        self.runs.findings.add(run, &findings);
        self.schedules.insert(run, schedule);
        self.kept.insert(run, findings);
    }

    fn fail(&mut self, run: usize, end: End, said: Option<Said<'static>>, schedule: Schedule) {
        let apart = self.tells_failures_apart;
        let same = |known: &&mut Failure| {
            known.end == end && (!apart || is_same(known.said.as_ref(), said.as_ref()))
        };
        match self.failures.iter_mut().find(same) {
            Some(known) => drop(known.in_runs.insert(run)),
            None => self.failures.push(Failure {
                end,
                first: run,
                in_runs: BTreeSet::from([run]),
                schedule,
                said,
            }),
        }
    }
}
