//! `rsan explore`: runs whose loads return what the memory model allows, for each of many seeds.
//!
//! The first run is sequentially consistent and does not count: how it ends is what the program does by itself. Then come rounds of
//! runs. Where a round left sequential consistency is known to the next one, so the answer does not depend on the number of servers.

mod failures;
mod story;

pub(super) use failures::{Reference, of_run, take};
pub(super) use story::Story;

use super::execution::Execution;
use super::keep::Files;
use super::pool::{Crew, Worker, in_rounds};
use super::replay::Replay;
use super::report::{self, Course};
use super::sample::{self, Length};
use super::server::{Problem, Setup};
use super::sharded;
use super::tally::{Tally, Trial};
use super::{Clock, Request, refusal};
use crate::args::{Volatile, WeakArgs, volatile};
use crate::progress::Progress;
use crate::sanitizer::findings::Found;
use crate::sanitizer::suppress::Suppressions;
use crate::sanitizer::verdict;
use crate::session::Reply;
use crate::status::Status;
use rsan_log::Finding;
use rsan_report::document::Schedules;
use rsan_schedule::strategy::{Aim, Spec, Target, WeakSpec};
use rsan_schedule::{Choice, End, Request as Run, Schedule, Settings};
use std::collections::{BTreeMap, BTreeSet};

/// The note of a schedule that says what loads return, and what it says of weak runs.
const MEMORY: &str = "memory";
const WEAK: &str = "weak";
/// The note with the window of a weak run.
const WINDOW: &str = "window";

/// The note, and the setting of the runtime, that say what volatile accesses count as.
const VOLATILE: &str = "volatile";

/// Runs of a round.
const ROUND: usize = 32;
/// Runs, and steps of all of them, in which a smaller schedule of a finding is looked for.
const TRIES: usize = 200;
const STEPS: u64 = 2_000_000;

/// What a schedule says of the memory of its runs; `None` if they are sequentially consistent.
#[derive(Clone, Copy, Default)]
pub(super) struct Weak {
    window: Option<u64>,
    volatile: Volatile,
}

impl Weak {
    pub(super) fn new(args: &WeakArgs) -> Self {
        Self {
            window: args.window,
            volatile: args.volatile.unwrap_or_default(),
        }
    }

    /// What a schedule says.
    pub(super) fn of(schedule: &Schedule) -> Option<Self> {
        let (window, counts_as) = (schedule.note(WINDOW), schedule.note(VOLATILE));
        (schedule.note(MEMORY) == Some(WEAK)).then(|| Self {
            window: window.and_then(|steps| steps.parse().ok()),
            volatile: counts_as
                .and_then(|text| volatile(text).ok())
                .unwrap_or_default(),
        })
    }

    /// The same run, but a weak one.
    pub(super) fn run(self, run: Run) -> Run {
        Run {
            weak: true,
            window: self.window,
            ..run
        }
    }

    /// Adds the settings of the runtime.
    pub(super) fn add_to(self, options: &mut Settings<'static>) {
        options.add(VOLATILE, self.volatile.name());
    }

    /// Says so in a schedule.
    pub(super) fn note(self, schedule: &mut Schedule) {
        schedule.set_note(MEMORY, WEAK);
        if self.volatile != Volatile::default() {
            schedule.set_note(VOLATILE, self.volatile.name());
        }
        if let Some(window) = self.window {
            schedule.set_note(WINDOW, &window.to_string());
        }
    }
}

/// Makes the runs, and says what came of them.
pub(super) fn answer(
    request: &Request<'_>,
    args: &WeakArgs,
) -> Result<(Reply, sharded::Made), String> {
    let clock = Clock::new(request.time_limit);
    let count = request.slice().len;
    let setup = request.setup(request.options(), count, &clock)?;
    let mut campaign = Campaign {
        request,
        setup: &setup,
        spec: args.strategy.unwrap_or_default(),
        weak: Weak::new(args),
        count,
        reference: None,
        known: BTreeSet::new(),
        tally: Tally {
            tells_failures_apart: true,
            ..Tally::default()
        },
        suppressions: report::suppressions(request)?,
    };
    let problem = campaign.run().err();
    let unseen = match problem {
        Some(Problem::Unseen) => true,
        Some(Problem::Stopped) | None => false,
        Some(problem) => return Err(refusal(problem)),
    };
    Ok(campaign.end(&clock, unseen))
}

/// A sequentially consistent run: what the program does by itself.
fn alone(request: &Request<'_>, setup: &Setup<'_>) -> Result<Execution, Problem> {
    let mut worker = Worker::new(setup, 0, request.timeout());
    let seed = request.schedule.seed;
    let mut alone = worker.run(sample::run_with(Spec::Random, seed, None, request.limit()))?;
    // That it need not be sequentially consistent is what the others show.
    let findings = &mut alone.record.findings;
    findings.retain(|logged| !matches!(logged.finding, Finding::Violation { .. }));
    Ok(alone)
}

/// What the program does by itself.
pub(super) fn reference(request: &Request<'_>, setup: &Setup<'_>) -> Result<Reference, Problem> {
    alone(request, setup).map(|alone| Reference::new(&alone))
}

/// What an exploration of all weak executions has found.
pub(super) struct Explored {
    pub(super) weak: Weak,
    pub(super) reference: Reference,
    pub(super) tally: Tally,
    pub(super) suppressions: Suppressions,
}

impl Explored {
    /// The answer.
    pub(super) fn reply(
        self,
        request: &Request<'_>,
        setup: &Setup<'_>,
        course: Course,
        clock: &Clock,
    ) -> (Reply, sharded::Made) {
        let campaign = Campaign {
            request,
            setup,
            spec: WeakSpec::default(),
            weak: self.weak,
            count: 0,
            reference: Some(self.reference),
            known: BTreeSet::new(),
            tally: self.tally,
            suppressions: self.suppressions,
        };
        campaign.conclude(course, clock)
    }
}

struct Campaign<'r, 's> {
    request: &'r Request<'r>,
    setup: &'s Setup<'s>,
    spec: WeakSpec,
    weak: Weak,
    count: usize,
    /// What the program does by itself.
    reference: Option<Reference>,
    /// Places where some run left sequential consistency.
    known: BTreeSet<u64>,
    tally: Tally,
    suppressions: Suppressions,
}

impl Campaign<'_, '_> {
    fn run(&mut self) -> Result<(), Problem> {
        let (request, setup) = (self.request, self.setup);
        let alone = alone(request, setup)?;
        self.reference = Some(Reference::new(&alone));
        let jobs = request.jobs().min(self.count);
        in_rounds(setup, jobs, request.timeout(), |crew| self.rounds(crew))??;
        // Whatever it found is found.
        if !alone.record.findings.is_empty() {
            let trial = Trial::new(alone);
            if self.tally.is_new(&trial) {
                self.tally.add(trial);
            }
        }
        Ok(())
    }

    fn rounds(&mut self, crew: &Crew) -> Result<(), Problem> {
        let mut progress = Progress::new(self.request.subject);
        let mut start = 0;
        while start < self.count && !self.setup.is_over() && !self.tally.runs.halted {
            let end = (start + ROUND).min(self.count);
            let results = crew.make((start..end).map(|run| self.request_of(run)));
            for (_, result) in results {
                if self.tally.runs.halted {
                    break;
                }
                let execution = result?;
                self.known
                    .extend(Some(execution.header.deviated).filter(|place| *place != 0));
                self.add(Trial::new(execution));
            }
            progress.show(&sample::state(&self.tally, self.count));
            start = end;
        }
        Ok(())
    }

    fn seed_of(&self, run: usize) -> u64 {
        let seed = self.request.schedule.seed;
        seed.wrapping_add(self.request.slice().index(run) as u64)
    }

    /// The run with a number.
    fn request_of(&self, run: usize) -> Run {
        let length = self.length();
        let choice = Choice::Explore {
            spec: self.spec,
            seed: self.seed_of(run),
            steps: length.map(|length| length.choices),
            aim: match self.spec {
                WeakSpec::Guided { .. } => self.aim(run),
                WeakSpec::Random { .. } | WeakSpec::Pctwm { .. } => Aim::default(),
            },
        };
        self.weak.run(Run {
            limit: Some(self.request.limit()),
            turn: length.map(|length| length.steps.saturating_mul(2)),
            ..choice.into()
        })
    }

    /// Where the run with a number leaves sequential consistency: at a place that no other did, or at one of those that others did, each
    /// in turn.
    fn aim(&self, run: usize) -> Aim {
        let turn = run.checked_rem(self.known.len());
        let load = turn.and_then(|turn| self.known.iter().nth(turn));
        Aim {
            known: self.known.iter().copied().collect(),
            target: load.map(|load| Target {
                load: *load,
                missed: None,
            }),
            ..Aim::default()
        }
    }

    fn length(&self) -> Option<Length> {
        self.reference.as_ref().map(|reference| reference.length)
    }

    fn add(&mut self, trial: Trial) {
        let reference = self.reference.as_ref();
        let is_failure = reference
            .is_some_and(|reference| reference.is_finding(trial.end, trial.failed.as_ref()));
        let new = self.tally.add(trial);
        if !self.request.sanitizer.halt_on_error {
            return;
        }
        let wanted = new && report::is_halted(self.request, &self.tally, &self.suppressions);
        self.tally.runs.halted = is_failure || wanted;
    }

    /// The answer.
    fn end(mut self, clock: &Clock, unseen: bool) -> (Reply, sharded::Made) {
        let done = self.tally.runs.done;
        let ended = done >= self.count || self.tally.runs.halted || unseen;
        let is_whole = self.request.portion.is_whole();
        self.tally.runs.interrupted = self.setup.is_stopped() && !ended && is_whole;
        let mut course = Course {
            schedules: Schedules {
                strategy: self.spec.to_string(),
                seed: Some(self.seed_of(0)),
                stride: (!is_whole).then_some(self.request.slice().step as u64),
                steps: self.length().map(|length| length.choices),
                ..Schedules::default()
            },
            out_of_time: is_whole && !ended && !self.tally.runs.interrupted,
            notes: Vec::new(),
        };
        let notes = verdict::undecided(&self.tally.undecided);
        course
            .notes
            .extend(notes.into_iter().map(|note| (Status::Clean, note)));
        self.conclude(course, clock)
    }

    /// The answer, with files for the schedules of whatever was found, and how it came about.
    fn conclude(mut self, mut course: Course, clock: &Clock) -> (Reply, sharded::Made) {
        let slow = self.tally.failures.iter();
        let slow = slow.filter(|failure| failure.end == End::Timeout);
        let slow: BTreeSet<usize> = slow.map(|failure| failure.first).collect();
        let (mut found, mut suppressed) = report::found(&self.tally, &mut self.suppressions);
        if let Some(reference) = &self.reference {
            let mut failed = take(&mut self.tally, reference, self.request);
            suppressed += self.suppressions.apply(&mut failed);
            found.splice(0..0, failed);
        }
        found.sort_by_key(|found| std::cmp::Reverse(found.finding.rank()));
        self.shrink(&found, &slow);
        let mut files = Files::new(self.request);
        files.name = WEAK;
        files.weak = Some(self.weak);
        files.keep_findings(&mut found, &self.tally, &course.schedules);
        course.schedules.failures = files.keep_failures(&self.tally.failures, &course.schedules);
        let unwritten = files.unwritten.map(|why| {
            let note = format!("schedules could not be written: {why}");
            (Status::Clean, note)
        });
        course.notes.extend(unwritten);
        self.explain(&mut found);
        let suppressed = (suppressed, &self.suppressions);
        report::conclude(self.request, self.tally, course, found, suppressed, clock)
    }

    /// Looks for smaller schedules of the runs that showed findings first, unless they take the whole time that a run may take.
    fn shrink(&mut self, found: &[Found], slow: &BTreeSet<usize>) {
        let mut worker = Worker::new(self.setup, 0, self.request.timeout());
        for (run, findings) in by_first_run(found) {
            if slow.contains(&run) {
                continue;
            }
            let Some(schedule) = self.tally.schedules.get_mut(&run) else {
                continue;
            };
            let labels: Vec<_> = findings.iter().map(|finding| finding.label()).collect();
            let reference = self.reference.as_ref();
            let mut replay = Replay::of_findings(self.request, &mut worker, &labels, reference);
            // Long runs leave time for fewer.
            let tries = (STEPS / schedule.len().max(1) as u64).min(TRIES as u64);
            let smaller = replay.smaller(schedule, Some(self.weak), tries as usize);
            if let Some(smaller) = smaller {
                *schedule = smaller.schedule;
            }
        }
    }

    /// Makes the runs that showed findings first again, and says how they came about.
    fn explain(&self, found: &mut [Found]) {
        let mut worker = Worker::new(self.setup, 0, self.request.timeout());
        let mut stories = BTreeMap::new();
        for run in by_first_run(found).into_keys() {
            let schedule = self.tally.schedules.get(&run);
            let story = schedule.and_then(|schedule| {
                let limit = self.request.limit();
                story::tell(&mut worker, schedule, self.weak, limit)
            });
            stories.insert(run, story);
        }
        for found in found {
            if let Some(Some(story)) = stories.get(&found.first_run()) {
                story.add_to(&mut found.finding);
            }
        }
    }
}

/// The findings by the first run that showed them.
fn by_first_run(found: &[Found]) -> BTreeMap<usize, Vec<&Found>> {
    let mut first: BTreeMap<usize, Vec<&Found>> = BTreeMap::new();
    for finding in found {
        first.entry(finding.first_run()).or_default().push(finding);
    }
    first
}
