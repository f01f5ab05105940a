//! `--exhaustive`: every execution of the program, each once, as [`rsan_schedule::explore`] finds them, and every weak one, each once or nearly
//! so, as [`rsan_schedule::explore_weak`] does.
//!
//! Plans are made in rounds: what a round shows is looked at in the order of its plans, so the answer does not depend on the
//! number of servers.

use super::checkpoint::{Checkpoint, State};
use super::execution::Execution;
use super::explorer::{Executions, Explorer};
use super::outcomes::Outcomes;
use super::pool::{Crew, in_rounds};
use super::report::{self, Course};
use super::server::{Problem, Setup};
use super::sharded;
use super::tally::{Tally, Trial};
use super::weak::{Reference, Weak};
use super::{Clock, EXHAUSTIVE, Request, STEPS, refusal, weak};
use crate::args::{ScheduleArgs, WeakArgs};
use crate::progress::Progress;
use crate::sanitizer::record::Undecided;
use crate::sanitizer::suppress::Suppressions;
use crate::sanitizer::symbols::Symbols;
use crate::sanitizer::verdict;
use crate::session::Reply;
use crate::shard::Shard;
use crate::status::Status;
use rsan_log::{Finding, Side};
use rsan_report::document::{Frame, place_of};
use rsan_report::number::{count, plural};
use rsan_schedule::explore::{self, Bounds, Job, Outcome};
use rsan_schedule::{Choice, End, Request as Run, Step};
use std::path::Path;
use std::time::{Duration, Instant};

/// Plans of a round.
const ROUND: usize = 64;
/// Plans for each part: so many that parts are about equal, and so few that the beginning, which all make, is short.
const PLANS: usize = 16;
/// How often the exploration is saved.
const SAVE: Duration = Duration::from_secs(10);

/// Explores the sequentially consistent executions of the program, and says what came of it.
pub(super) fn answer(
    request: &Request<'_>,
    args: &ScheduleArgs,
) -> Result<(Reply, sharded::Made), String> {
    explore(request, args.max_preemptions, None)
}

/// The same for weak executions.
pub(super) fn weakly(
    request: &Request<'_>,
    args: &WeakArgs,
) -> Result<(Reply, sharded::Made), String> {
    explore(request, None, Some(Weak::new(args)))
}

fn explore(
    request: &Request<'_>,
    preemptions: Option<usize>,
    weak: Option<Weak>,
) -> Result<(Reply, sharded::Made), String> {
    let clock = request.clock();
    let bounds = Bounds {
        runs: request.schedule.max_executions,
        steps: Some(request.thread_limit()),
        preemptions,
        ..Bounds::default()
    };
    let executions = match weak {
        None => Executions::Sequential,
        Some(_) => Executions::Weak,
    };
    let checkpoint = request.schedule.checkpoint.as_deref().map(Checkpoint::at);
    let (mut tally, mut outcomes) = (Tally::default(), Outcomes::default());
    let mut dealt = None;
    let state = State {
        tally: &mut tally,
        outcomes: &mut outcomes,
        dealt: &mut dealt,
    };
    let mut explorer = match &checkpoint {
        Some(checkpoint) => checkpoint.load(executions, bounds, state)?,
        None => Explorer::new(executions, bounds),
    };
    if let Some(left) = request.portion.left.filter(|_| dealt.is_none()) {
        explorer = what_is_left(left, executions, bounds)?;
    }
    if !request.portion.is_whole() {
        explorer.be_a_part();
    }
    // Nothing may be forgotten: what is not found is taken as proved. All slots of the clocks that there are can be used.
    let mut options = request.options();
    for (name, value) in [("log_cap", "0"), ("exact", "1"), ("slots", "65536")] {
        options.add(name, value);
    }
    let setup = request.setup(options, 2, &clock)?;
    let mut search = Search {
        request,
        setup: &setup,
        clock: &clock,
        checkpoint,
        explorer,
        weak,
        outcomes,
        tally,
        suppressions: report::suppressions(request)?,
        diverged: None,
        dealt,
    };
    let reference = match weak {
        None => Ok(None),
        Some(_) => weak::reference(request, &setup).map(Some),
    };
    let problem = match &reference {
        Ok(_) => search.run(),
        Err(_) => None,
    };
    let (reference, problem) = match reference {
        Ok(reference) => (reference, problem),
        Err(problem) => (None, Some(problem)),
    };
    // What was found is told all the same.
    let unsaved = search.save().err();
    match problem {
        None | Some(Problem::Unseen | Problem::Stopped) => {}
        Some(problem) => return Err(refusal(problem)),
    }
    let suppressions = std::mem::take(&mut search.suppressions);
    let dealt = search.dealt;
    let (mut course, tally) = search.end();
    let unsaved = unsaved.map(|message| (Status::Clean, message));
    course.notes.extend(unsaved);
    let (reply, made) = match weak {
        None => report::reply(request, tally, course, suppressions, &clock),
        Some(weak) => {
            let reference = reference.unwrap_or_else(Reference::unknown);
            let explored = weak::Explored {
                weak,
                reference,
                tally,
                suppressions,
            };
            explored.reply(request, &setup, course, &clock)
        }
    };
    Ok((reply, sharded::Made { dealt, ..made }))
}

/// What another part has left of its exploration; what that has counted and found is in its own result.
fn what_is_left(file: &Path, executions: Executions, bounds: Bounds) -> Result<Explorer, String> {
    let state = State {
        tally: &mut Tally::default(),
        outcomes: &mut Outcomes::default(),
        dealt: &mut None,
    };
    let mut explorer = Checkpoint::at(file).load(executions, bounds, state)?;
    explorer.count_anew();
    Ok(explorer)
}

struct Search<'r, 's> {
    request: &'r Request<'r>,
    setup: &'s Setup<'s>,
    clock: &'r Clock,
    checkpoint: Option<Checkpoint<'r>>,
    explorer: Explorer,
    /// Weak executions are explored.
    weak: Option<Weak>,
    outcomes: Outcomes,
    tally: Tally,
    suppressions: Suppressions,
    /// The first run that did not do what was done before.
    diverged: Option<String>,
    /// Of a part: stands for what was dealt out to all parts, once that was done.
    dealt: Option<u128>,
}

impl Search<'_, '_> {
    /// Makes rounds until nothing is left, or something ends it.
    fn run(&mut self) -> Option<Problem> {
        let (setup, jobs, timeout) = (self.setup, self.request.jobs(), self.request.timeout());
        in_rounds(setup, jobs, timeout, |crew| self.rounds(crew)).unwrap_or_else(Some)
    }

    fn rounds(&mut self, crew: &Crew) -> Option<Problem> {
        let mut progress = Progress::new(self.request.subject);
        let mut saved = Instant::now();
        if let Err(problem) = self.deal(crew) {
            return Some(problem);
        }
        loop {
            let setup = self.setup;
            let next = || self.explorer.next_unless(|| setup.is_over());
            let mut jobs: Vec<Job> = std::iter::from_fn(next).take(ROUND).collect();
            if jobs.is_empty() {
                return None;
            }
            if let Err(problem) = self.round(&mut jobs, crew) {
                return Some(problem);
            }
            progress.show(&self.state());
            if self.setup.is_over() || self.tally.runs.halted {
                return None;
            }
            if saved.elapsed() > SAVE {
                // The disk may have room again at the end, when it is said.
                let _ = self.save();
                saved = Instant::now();
            }
        }
    }

    /// Makes the beginning that all parts make, level by level, until there are plans for all of them, and keeps those of this part. What the
    /// beginning shows is the first part's.
    fn deal(&mut self, crew: &Crew) -> Result<(), Problem> {
        let Some(part) = self.request.portion.shard.map(Shard::last) else {
            return Ok(());
        };
        let setup = self.setup;
        while self.dealt.is_none() {
            if !self.explorer.spread(|| setup.is_over()) || setup.is_over() {
                return Err(Problem::Stopped);
            }
            let plans = self.explorer.progress().waiting;
            if plans > 0 && plans < part.of.saturating_mul(PLANS) {
                self.level(plans, crew)?;
                continue;
            }
            self.dealt = Some(self.explorer.digest());
            self.explorer.keep(part);
            if part.number > 1 {
                self.tally = Tally::default();
                self.tally.runs.main_seen = true;
                self.outcomes = Outcomes::default();
                self.diverged = None;
            }
        }
        Ok(())
    }

    /// Makes the runs of so many plans, which are all that there are.
    fn level(&mut self, plans: usize, crew: &Crew) -> Result<(), Problem> {
        let setup = self.setup;
        let next = || self.explorer.next_unless(|| setup.is_over());
        let mut jobs: Vec<Job> = std::iter::from_fn(next).take(plans).collect();
        let mut problem = None;
        for jobs in jobs.chunks_mut(ROUND) {
            match problem {
                None => problem = self.round(jobs, crew).err(),
                Some(_) => jobs.iter().for_each(|job| self.explorer.give_back(job.id)),
            }
        }
        problem.map_or(Ok(()), Err)
    }

    /// Writes the checkpoint, if one is wanted.
    fn save(&self) -> Result<(), String> {
        let Some(checkpoint) = &self.checkpoint else {
            return Ok(());
        };
        if !self.request.portion.is_whole() && self.dealt.is_none() {
            // All parts begin alike.
            return Ok(());
        }
        let (tally, outcomes) = (&self.tally, &self.outcomes);
        let saved = checkpoint.save(&self.explorer, tally, outcomes, self.dealt);
        saved.map_err(|message| format!("the checkpoint could not be written: {message}"))
    }

    /// Makes the runs of a round, whose plans are taken. What could not be made is given back.
    fn round(&mut self, jobs: &mut [Job], crew: &Crew) -> Result<(), Problem> {
        // The bound is on the steps of threads; runs that are much too long end all the same.
        let limit = self.request.limit().max(STEPS);
        let weak = self.weak;
        let runs = jobs.iter_mut().map(|job| {
            let run = Run {
                limit: Some(limit),
                ..Choice::Plan(std::mem::take(&mut job.plan)).into()
            };
            match weak {
                None => run,
                Some(weak) => weak.run(run),
            }
        });
        let results = crew.make(runs);
        let mut problem = None;
        for (place, result) in results {
            let id = jobs[place].id;
            match result {
                Ok(_) if self.tally.runs.halted => self.explorer.give_back(id),
                Ok(execution) => self.add(id, execution),
                Err(why) => {
                    self.explorer.give_back(id);
                    problem.get_or_insert(why);
                }
            }
        }
        problem.map_or(Ok(()), Err)
    }

    /// Takes a run over.
    fn add(&mut self, id: u64, mut execution: Execution) {
        let end = execution.end();
        // What a weak execution comes to may be a status: it came to its end all the same.
        let ended = execution.trace.end.is_complete() && execution.status.code().is_some();
        let by_status = self.weak.is_some() && ended && matches!(end, End::Failed(_));
        if !end.is_complete() && execution.trace.end != End::CutOff && !by_status {
            execution.trace.end = end;
        }
        let outcome = self.explorer.done(id, &execution.trace);
        if let (Some(_), Outcome::Execution { blocked }) = (self.weak, outcome) {
            self.outcomes.add(&execution, blocked);
        }
        if let Outcome::Diverged(divergence) = outcome {
            let stack = &execution.record.diverged;
            self.diverged.get_or_insert_with(|| {
                let stack = Symbols::default().stack(stack);
                let place = place_of(&stack).and_then(Frame::place);
                let place =
                    place.map_or(String::new(), |place| format!(", at {}", place.file_line()));
                format!("{divergence}{place}")
            });
        }
        if !matches!(outcome, Outcome::Execution { .. }) {
            // Threads that this run keeps waiting may go on in another one.
            let findings = &mut execution.record.findings;
            findings.retain(|logged| !matches!(logged.finding, Finding::Deadlock { .. }));
        }
        if outcome == Outcome::Excess {
            set_doubtful_aside(&mut execution);
        }
        let trial = match outcome {
            Outcome::Diverged(_) => Trial::diverged(execution),
            _ => Trial::new(execution),
        };
        let new = self.tally.add(trial);
        let (request, tally) = (self.request, &self.tally);
        let halts = new && report::is_halted(request, tally, &self.suppressions);
        self.tally.runs.halted |= halts;
    }

    /// Whether the number of executions can be estimated: the parts of a weak exploration are too different for that.
    fn estimates(&self) -> bool {
        self.weak.is_none()
    }

    /// How far it is.
    fn state(&self) -> String {
        let progress = self.explorer.progress();
        let found = self.tally.runs.findings.iter().count();
        let s = if found == 1 { "" } else { "s" };
        let estimate = progress.estimate().filter(|_| self.estimates());
        let of = estimate.map_or(String::new(), |estimate| {
            format!(" of about {}", count(estimate))
        });
        let executions = count(progress.counts.executions);
        format!("{executions}{of} executions, {found} finding{s}")
    }

    /// What there is to say.
    fn end(mut self) -> (Course, Tally) {
        let mut progress = self.explorer.progress();
        let left = progress.waiting;
        let is_whole = self.request.portion.is_whole();
        if !is_whole {
            // What is left of a part is somebody else's.
            progress.waiting = 0;
        }
        let ended = progress.waiting == 0 || self.tally.runs.halted;
        self.tally.runs.interrupted = self.setup.is_stopped() && !ended;
        let out_of_time = !ended && self.clock.is_over() && !self.tally.runs.interrupted;
        let mut exploration = report::exploration(&progress);
        exploration.left = left as u64;
        exploration.outcomes = self.outcomes.document();
        exploration.estimate = exploration.estimate.filter(|_| self.estimates());
        let mut course = Course {
            out_of_time,
            ..Course::default()
        };
        course.schedules.strategy = EXHAUSTIVE.to_owned();
        if !exploration.complete {
            let mut note = why(&progress, self.weak.is_some());
            if let Some(divergence) = self.diverged {
                note = format!("{note} ({divergence})");
            }
            course.notes.push((Status::Undecided, note));
        }
        let undecided = verdict::undecided(&self.tally.undecided);
        let notes = undecided.into_iter().map(|note| (Status::Undecided, note));
        course.notes.extend(notes);
        course.schedules.exploration = Some(exploration);
        (course, self.tally)
    }
}

/// Findings that may be there only because of what a failed spin iteration of another thread has read are none: another run is the same
/// execution without the round, and shows what is weak in it. If the round has several reads, the other thread might end it otherwise
/// because of the weak access, and then its first reads count; so there is no proof. A failed spin iteration of the same thread is none with
/// what the access may read instead.
fn set_doubtful_aside(execution: &mut Execution) {
    let steps = &execution.trace.steps;
    let undecided = &mut execution.record.undecided;
    execution.record.findings.retain(|logged| {
        let Finding::Violation {
            access: Side { thread, stack, .. },
            ..
        } = &logged.finding
        else {
            return true;
        };
        let step = logged.step.unwrap_or_default() as usize;
        let before = &steps[..steps.len().min(step.saturating_sub(1))];
        let in_vain = |step: &&Step| step.vain && Some(step.thread.0) != *thread;
        let mut in_vain = before.iter().filter(in_vain);
        let has_several = |one: &Step| {
            let of_round = |step: &&Step| step.vain && step.thread == one.thread;
            steps.iter().filter(of_round).count() > 1
        };
        let is_doubtful = in_vain.clone().next().is_some();
        if is_doubtful && in_vain.any(has_several) {
            undecided.push(Undecided {
                message: DOUBT.to_owned(),
                stack: stack.clone(),
            });
        }
        !is_doubtful
    });
}

/// Why a weak access is not decided.
const DOUBT: &str =
    "an access may be weak because of what a failed spin iteration of another thread has read";

/// Why an exploration is not complete.
fn why(progress: &explore::Progress, weak: bool) -> String {
    let counts = &progress.counts;
    let reasons = [
        (counts.cut, "cut off by the bound on steps"),
        (counts.failed, "failed"),
        (counts.diverged, &End::Diverged.to_string()),
        (counts.irregular, "took locks that no step gave back"),
        (counts.limited, "waited for a limited time"),
        (
            counts.mixed,
            "had atomic accesses of several sizes that overlap",
        ),
        (
            counts.undecided,
            match weak {
                true => "could not be decided, or used memory for something else",
                false => "had a weak compare-and-swap that could fail for no reason once more",
            },
        ),
    ];
    let reasons = reasons.into_iter().filter(|(number, _)| *number > 0);
    let mut all: Vec<_> = reasons
        .map(|(number, what)| format!("{} {what}", plural(number, "run")))
        .collect();
    if counts.preempted > 0 {
        all.push("the bound on preemptions left some out".to_owned());
    }
    if progress.waiting > 0 {
        all.push(format!("{} plans are left", count(progress.waiting as u64)));
    }
    format!("not all executions were explored: {}", all.join(", "))
}
