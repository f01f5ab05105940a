//! What all runs showed. Runs are added in their order, so the same campaign always has the same tally.

use super::execution::{Execution, Fate};
use crate::sanitizer::execute::Runs;
use crate::sanitizer::record::{Fatal, Logged, Undecided};
use crate::sanitizer::verdict::ended;
use rsan_model::Model;
use rsan_schedule::{Coverage, Fingerprint, Schedule};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What is kept of a run.
pub(super) struct Trial {
    pub(super) fate: Fate,
    fingerprint: Fingerprint,
    findings: Vec<Logged>,
    unreadable: usize,
    suppressed: usize,
    fatal: Option<Fatal>,
    undecided: Vec<Undecided>,
    model: Option<Model>,
    /// Of runs that showed something.
    schedule: Option<Schedule>,
}

impl Trial {
    pub(super) fn new(execution: Execution) -> Self {
        let fate = execution.fate();
        let record = &execution.record;
        let nothing = fate == Fate::Ended && record.findings.is_empty() && record.unreadable == 0;
        let schedule = (!nothing).then(|| execution.schedule());
        let Execution {
            record,
            trace,
            model,
            ..
        } = execution;
        Self {
            fate,
            fingerprint: Fingerprint::of(&trace.steps),
            findings: record.findings,
            unreadable: record.unreadable,
            suppressed: record.suppressed,
            fatal: record.fatal,
            undecided: record.undecided,
            model,
            schedule,
        }
    }

    /// The same of a run that did not do what another one had done.
    pub(super) fn diverged(execution: Execution) -> Self {
        let schedule = Some(execution.schedule());
        let trial = Self::new(execution);
        let fate = match trial.fate {
            Fate::Ended => Fate::Diverged,
            fate => fate,
        };
        Self {
            fate,
            schedule,
            ..trial
        }
    }
}

/// Runs that failed in the same way.
pub(super) struct Failure {
    pub(super) fate: Fate,
    /// The first one.
    pub(super) first: usize,
    pub(super) runs: usize,
    pub(super) schedule: Schedule,
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
        match trial.fate {
            Fate::Ended | Fate::Diverged => {}
            Fate::CutOff => runs.cut += 1,
            Fate::Timeout => runs.timeouts += 1,
            Fate::Forked => runs.forks += 1,
            Fate::Vanished => runs.vanished += 1,
            Fate::ServerDied => runs.deaths += 1,
            Fate::Fatal => {
                runs.fatals += 1;
                if let Some(fatal) = trial.fatal {
                    runs.fatal.get_or_insert(fatal);
                }
            }
            Fate::Failed(status) => {
                runs.failure.get_or_insert(ExitStatus::from_raw(status));
                runs.failures += 1;
            }
        }
        if trial.fate == Fate::Ended {
            self.coverage.record(trial.fingerprint);
        } else {
            self.fail(run, trial.fate, trial.schedule.unwrap_or_default());
        }
        new
    }

    /// Takes over what a run showed that an earlier campaign made.
    pub(super) fn restore(&mut self, findings: Vec<Logged>, schedule: Schedule) {
        let run = self.kept.len();
        self.runs.main_seen = true;
        self.runs.findings.add(run, &findings);
        self.schedules.insert(run, schedule);
        self.kept.insert(run, findings);
    }

    fn fail(&mut self, run: usize, fate: Fate, schedule: Schedule) {
        match self.failures.iter_mut().find(|known| known.fate == fate) {
            Some(known) => known.runs += 1,
            None => self.failures.push(Failure {
                fate,
                first: run,
                runs: 1,
                schedule,
            }),
        }
    }
}

/// What became of a run, in words.
pub(super) fn describe(fate: Fate) -> String {
    match fate {
        Fate::Ended => "ended".to_owned(),
        Fate::CutOff => "too many steps".to_owned(),
        Fate::Timeout => "reached the time limit".to_owned(),
        Fate::Failed(status) => ended(ExitStatus::from_raw(status)),
        Fate::Fatal => "ended by the runtime".to_owned(),
        Fate::Forked => "made another process, whose schedule is not ours".to_owned(),
        Fate::Diverged => "did something else than before".to_owned(),
        Fate::Vanished => "ended without rsan noticing, or became another program".to_owned(),
        Fate::ServerDied => "ended the process that makes the runs".to_owned(),
    }
}
