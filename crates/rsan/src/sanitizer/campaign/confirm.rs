//! `--confirm`: does a stale value hurt?
//!
//! **Decides**, for each weak behaviour that was found, whether a run in which the load returns the stale value shows something that no
//! sequentially consistent run of the campaign shows: a race, a misuse, a deadlock, a failure, a hang, another output. What is called harmful did happen, in a run that
//! can be made again; that no interleaving does the same is as sure as the sequentially consistent runs are many. What is not seen may exist.
//!
//! **How.** Sequentially consistent runs first, of the same strategy and seeds: the baseline. Then for each finding as many runs that leave sequential
//! consistency at its load, and nowhere else before: half of them by the steps of the run that found it, if they are known, half by schedules of
//! their own that come there after the write that is missed. Every second run goes on with the last writes, so that the stale value alone
//! is the cause. The others read further stale values. If only those show something, the run is made again with the last write for the
//! finding's load: if it shows the same, another load is the cause, and nothing is said of this one. Whatever is new is looked for in further
//! sequentially consistent runs before it is called harm.
//!
//! **Cost.** `runs` for each finding, and `runs` or [`DOUBTS`] times as many for the baseline.

mod again;
mod shown;
mod words;

use super::execution::Execution;
use super::keep::Files;
use super::pool::{Worker, in_order};
use super::server::{Problem, Setup};
use super::tally::Tally;
use super::{Clock, Request, refusal};
use crate::progress::Progress;
use crate::sanitizer::findings::{self, Found};
use crate::sanitizer::log::Findings;
use crate::sanitizer::record::Logged;
use again::Again;
use rsan_log::Failure;
use rsan_model::{Model, ThreadId};
use rsan_report::document::{Harm, Kind};
use rsan_report::number::plural;
use rsan_schedule::strategy::{Aim, Target, WeakSpec};
use rsan_schedule::{Choice, End, Request as Run, Schedule};
use shown::{Baseline, Evidence, Showing, Shown, shown};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Sequentially consistent runs for each one of the baseline, before something is called harm.
const DOUBTS: usize = 5;
/// Steps that a run is told to begin with, at most.
const START: usize = 20_000;
/// Of 100 loads that can read a stale value after the deviation, how many do, in half of the runs.
const STALE: u8 = 50;
/// What the runs that found something showed, all of them without stale values.
pub(crate) struct Seen<'a> {
    pub(super) findings: &'a Findings,
    /// How runs failed, and what they said of it.
    pub(super) failed: Vec<(End, Option<Failure<'static>>)>,
    /// The runs, if their schedules are known.
    pub(super) tally: Option<&'a Tally>,
}

impl<'a> Seen<'a> {
    /// Runs whose schedules are not known.
    pub(crate) fn plain(findings: &'a Findings, failed: Option<End>) -> Self {
        Self {
            findings,
            failed: failed.into_iter().map(|end| (end, None)).collect(),
            tally: None,
        }
    }

    /// Who made the steps up to a finding, in the first run that had it.
    fn start(&self, found: &Found) -> Option<Vec<ThreadId>> {
        let (tally, run) = (self.tally?, found.first_run());
        let mut logged = tally.kept.get(&run)?.iter();
        let is_same = |logged: &&Logged| {
            let target = findings::target(&logged.finding);
            target.is_some_and(|target| found.targets.contains(&target))
        };
        let step = usize::try_from(logged.find(is_same)?.step?).ok()?;
        let steps = tally.schedules.get(&run)?.steps();
        let first = steps.get(..step).filter(|steps| steps.len() <= START)?;
        Some(first.iter().map(|step| step.thread).collect())
    }
}

/// Finds out which findings hurt, sorts them by it, and says what came of it.
pub(crate) fn confirm(
    request: &Request<'_>,
    clock: &Clock,
    found: &mut [Found],
    seen: &Seen<'_>,
) -> Option<String> {
    let runs = request.confirm?;
    let wanted =
        |found: &&mut Found| found.finding.kind == Kind::WeakBehaviour && found.finding.counts();
    let mut wanted: Vec<_> = found.iter_mut().filter(wanted).collect();
    if wanted.is_empty() {
        return None;
    }
    let mut baseline = Baseline::default();
    for distinct in seen.findings.iter() {
        baseline.know(Shown::Finding(distinct.logged.key()));
    }
    for (end, said) in &seen.failed {
        if let End::Failed(status) = end {
            baseline.know(Shown::failure(*status, said.as_ref()));
        }
    }
    let said = match Campaign::new(request, clock, runs, baseline) {
        Ok(mut campaign) => campaign.run(&mut wanted, seen),
        Err(message) => format!("harm was not looked for: {message}"),
    };
    found.sort_by_key(|found| Reverse(found.finding.rank()));
    Some(said)
}

/// Where runs of a finding leave sequential consistency.
struct Goal {
    /// Loads, and the writes that they miss.
    targets: Vec<(u64, u64)>,
    /// How a run came there before.
    first: Vec<ThreadId>,
}

impl Goal {
    /// Of every four runs, two come there as a run did before, whatever was written last then, and two by their own schedule, where the
    /// last write has to be the one that is missed.
    fn aim(&self, run: usize) -> Aim {
        let (load, missed) = self.targets[run / 4 % self.targets.len()];
        let as_before = run % 4 < 2;
        Aim {
            target: Some(Target {
                load,
                missed: (!as_before).then_some(missed),
            }),
            only: true,
            first: match as_before {
                true => self.first.clone(),
                false => Vec::new(),
            },
            ..Aim::default()
        }
    }
}

/// What is kept of a run.
struct Trial {
    showing: Showing,
    /// It left sequential consistency where it should.
    deviated: bool,
    /// Of runs that show something that is new.
    schedule: Option<Schedule>,
    /// Why the runtime could not go on.
    fatal: Option<String>,
}

/// Something new in weak runs of a finding.
struct Suspicion {
    runs: u64,
    /// Of the smallest run.
    schedule: Schedule,
    evidence: Option<Evidence>,
}

/// What is to be small.
fn cost(schedule: &Schedule) -> (usize, usize, usize) {
    (schedule.stale_reads(), schedule.switches(), schedule.len())
}

/// What weak runs of a finding showed.
#[derive(Default)]
struct Case {
    runs: u64,
    continuations: u64,
    suspicions: BTreeMap<Shown, Suspicion>,
}

struct Campaign<'r> {
    request: &'r Request<'r>,
    setup: Setup<'r>,
    runs: usize,
    baseline: Baseline,
    fatal: Option<String>,
}

impl<'r> Campaign<'r> {
    fn new(
        request: &'r Request<'r>,
        clock: &Clock,
        runs: usize,
        baseline: Baseline,
    ) -> Result<Self, String> {
        if request.model.is_some_and(|model| model != Model::C20) {
            return Err("weak runs are those of c20".to_owned());
        }
        Ok(Self {
            request,
            setup: request.capturing(clock)?,
            runs,
            baseline,
            fatal: None,
        })
    }

    /// The whole campaign.
    fn run(&mut self, found: &mut [&mut Found], seen: &Seen<'_>) -> String {
        let is_target = |found: &&mut Found| !found.targets.is_empty();
        let stores = found.iter().filter(|found| !is_target(found)).count() as u64;
        let mut found: Vec<_> = found.iter_mut().filter(|found| is_target(found)).collect();
        let mut problem = self.sample(0, self.runs).err();
        let mut cases = Vec::new();
        if problem.is_none() {
            let goal = |found: &&mut &mut Found| Goal {
                targets: found.targets.iter().copied().collect(),
                first: seen.start(found).unwrap_or_default(),
            };
            let goals: Vec<_> = found.iter().map(goal).collect();
            (cases, problem) = self.weak(&goals);
        }
        if cases.iter().any(|case| !case.suspicions.is_empty()) {
            let more = self.runs * (DOUBTS - 1);
            problem = self.sample(self.runs, more).err().or(problem);
        }
        let mut counts = Counts {
            stores,
            ..Counts::default()
        };
        for (number, case) in cases.into_iter().enumerate() {
            if case.runs == 0 {
                continue;
            }
            let harm = self.judge(number, case);
            counts.add(&harm);
            found[number].finding.set_harm(harm);
        }
        counts.open = found.len() as u64 - counts.judged();
        let why = problem.map(|problem| match problem {
            Problem::Stopped if self.setup.is_stopped() => "interrupted".to_owned(),
            Problem::Stopped => "the time limit was reached".to_owned(),
            other => refusal(other),
        });
        counts.said(self.baseline.runs, why.or(self.fatal.take()))
    }

    /// Makes sequentially consistent runs for the baseline.
    fn sample(&mut self, first: usize, count: usize) -> Result<(), Problem> {
        let Self { request, setup, .. } = self;
        let aim = Aim {
            only: true,
            ..Aim::default()
        };
        let work = |worker: &mut Worker<'_>, run: usize| {
            let run = run_with(request, first + run, 0, aim.clone());
            let execution = worker.run(run)?;
            Ok((shown(&execution), execution.header.steps))
        };
        let (jobs, timeout) = (request.jobs(), request.timeout());
        let mut problem = None;
        let baseline = &mut self.baseline;
        in_order(setup, jobs, timeout, count, work, |_, made| match made {
            Ok((showing, steps)) => {
                baseline.add(showing, steps);
                ControlFlow::Continue(())
            }
            Err(why) => {
                problem = Some(why);
                ControlFlow::Break(())
            }
        })?;
        problem.map_or(Ok(()), Err)
    }

    /// Makes the weak runs of all findings, in turn.
    fn weak(&mut self, goals: &[Goal]) -> (Vec<Case>, Option<Problem>) {
        let Self {
            request,
            setup,
            runs,
            baseline,
            fatal,
        } = self;
        let (runs, limit) = (*runs, request.limit());
        let mut progress = Progress::new(request.subject);
        let work = |worker: &mut Worker<'_>, run: usize| {
            let (finding, run) = (run / runs, run % runs);
            let stale = if run.is_multiple_of(2) { 0 } else { STALE };
            let aim = goals[finding].aim(run);
            let load = aim.target.map_or(0, |target| target.load);
            let execution = worker.run(run_with(request, run, stale, aim))?;
            Ok(trial(execution, load, |shown| {
                baseline.is_new(shown, limit)
            }))
        };
        let mut cases: Vec<Case> = Vec::new();
        cases.resize_with(goals.len(), Case::default);
        let mut problem = None;
        let (jobs, timeout) = (request.jobs(), request.timeout());
        let count = runs * goals.len();
        let made = in_order(setup, jobs, timeout, count, work, |run, trial| {
            let trial: Trial = match trial {
                Ok(trial) => trial,
                Err(why) => {
                    problem = Some(why);
                    return ControlFlow::Break(());
                }
            };
            if run.is_multiple_of(64) {
                progress.show(&format!("confirming: run {run} of {count}"));
            }
            if let Some(message) = &trial.fatal {
                fatal.get_or_insert_with(|| message.clone());
            }
            cases[run / runs].add(trial);
            ControlFlow::Continue(())
        });
        (cases, made.err().or(problem))
    }

    /// Whether a finding hurts: by the most serious of what is still new.
    fn judge(&mut self, number: usize, case: Case) -> Harm {
        let limit = self.request.limit();
        let Case {
            runs,
            continuations,
            suspicions,
        } = case;
        if continuations == 0 {
            return Harm::NotReached { runs };
        }
        let suspicions = suspicions.into_iter();
        let mut suspicions: Vec<_> = suspicions
            .filter(|(shown, _)| self.baseline.is_new(shown, limit))
            .map(|(shown, suspicion)| {
                let words = words::words(&shown, suspicion.evidence.as_ref(), Model::C20);
                (words, shown, suspicion)
            })
            .collect();
        suspicions.sort_by_key(|(words, _, suspicion)| (words.effect, cost(&suspicion.schedule)));
        let mut again = Again::new(self.request, &self.setup);
        for (words, shown, suspicion) in suspicions {
            let Some(schedule) = again.confirmed(&shown, &suspicion.schedule) else {
                continue;
            };
            let shows = words::shows(&shown, suspicion.evidence.as_ref());
            let name = format!("harm-{}", number + 1);
            let recorded = Files::new(self.request).keep_harm(&name, &schedule, &shows);
            return Harm::Harmful {
                effect: words.effect,
                message: words.message,
                location: words.location,
                runs: suspicion.runs,
                continuations,
                recorded,
            };
        }
        Harm::NotSeen { continuations }
    }
}

/// How a run goes that leaves sequential consistency as aimed, and reads so many stale values of 100 from there.
fn run_with(request: &Request<'_>, run: usize, stale: u8, aim: Aim) -> Run {
    let choice = Choice::Explore {
        spec: WeakSpec::Guided { stale },
        seed: request.schedule.seed.wrapping_add(run as u64),
        steps: None,
        aim,
    };
    Run {
        limit: Some(request.limit()),
        ..choice.into()
    }
}

/// What is kept of a run that should leave sequential consistency at a place.
fn trial(execution: Execution, place: u64, is_new: impl Fn(&Shown) -> bool) -> Trial {
    let mut showing = shown(&execution);
    showing.retain(|shown, _| is_new(shown));
    let deviated = execution.header.deviated == place;
    let schedule =
        (deviated && !showing.is_empty() && execution.is_complete()).then(|| execution.schedule());
    Trial {
        showing,
        deviated,
        schedule,
        fatal: execution.record.fatal.map(|fatal| fatal.message),
    }
}

impl Case {
    /// Adds a run.
    fn add(&mut self, trial: Trial) {
        self.runs += 1;
        self.continuations += u64::from(trial.deviated);
        let Some(schedule) = trial.schedule else {
            return;
        };
        for (shown, evidence) in trial.showing {
            let entry = self.suspicions.entry(shown);
            let suspicion = entry.or_insert_with(|| Suspicion {
                runs: 0,
                schedule: schedule.clone(),
                evidence,
            });
            suspicion.runs += 1;
            if cost(&schedule) < cost(&suspicion.schedule) {
                suspicion.schedule = schedule.clone();
            }
        }
    }
}

/// What there is to say of all findings.
#[derive(Default)]
struct Counts {
    harmful: u64,
    not_seen: u64,
    not_reached: u64,
    /// About stores, which are not executed early.
    stores: u64,
    /// Not tried.
    open: u64,
}

impl Counts {
    fn add(&mut self, harm: &Harm) {
        match harm {
            Harm::Harmful { .. } => self.harmful += 1,
            Harm::NotSeen { .. } => self.not_seen += 1,
            Harm::NotReached { .. } => self.not_reached += 1,
        }
    }

    fn judged(&self) -> u64 {
        self.harmful + self.not_seen + self.not_reached
    }

    fn said(&self, baseline: u64, why: Option<String>) -> String {
        let parts = [
            (self.harmful, "harmful"),
            (self.not_seen, "without harm seen"),
            (self.not_reached, "not reached"),
            (self.stores, "of a store, which is not tried"),
            (self.open, "not tried"),
        ];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0);
        let parts = parts.map(|(number, what)| format!("{number} {what}"));
        let parts: Vec<_> = parts.collect();
        let runs = plural(baseline, "sequentially consistent run");
        let why = why.map_or(String::new(), |why| format!(" ({why})"));
        format!("confirmed beside {runs}: {}{why}", parts.join(", "))
    }
}
