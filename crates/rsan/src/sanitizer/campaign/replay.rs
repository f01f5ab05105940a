//! `--replay`: a recorded run again, and `--minimize`: with fewer stale reads and context switches.

use super::execution::Execution;
use super::keep;
use super::pool::Worker;
use super::report::{self, Course};
use super::server::Problem;
use super::tally::{Tally, Trial};
use super::weak::{self, Reference, Story, Weak, of_run};
use super::{Clock, EXHAUSTIVE, Request, quoted, refusal};
use crate::files;
use crate::sanitizer::execute::text_of;
use crate::session::Reply;
use crate::status::Status;
use rsan_report::document::Schedules;
use rsan_report::number::plural;
use rsan_schedule::{Choice, End, Minimized, Request as Run, Schedule, Step, minimize};
use std::ops::ControlFlow;
use std::path::{self, Path, PathBuf};

/// Makes the run again, as often as the user wants, and says what came of it.
pub(super) fn answer(request: &Request<'_>, file: &Path) -> Result<Reply, String> {
    let clock = Clock::new(request.time_limit);
    let schedule = read(file)?;
    let times = request.runs.unwrap_or(1);
    let weak = Weak::of(&schedule);
    let mut options = request.options();
    if let Some(weak) = weak {
        weak.add_to(&mut options);
    }
    let alone = times == 1 && !request.schedule.minimize;
    let setup = request.setup(options, if alone { 1 } else { 2 }, &clock)?;
    let mut suppressions = report::suppressions(request)?;
    let mut worker = Worker::new(&setup, 0, request.timeout());
    let shows = schedule.note("shows").map(str::to_owned);
    // A failure that the program has by itself is recorded as one.
    let fails = shows
        .as_deref()
        .is_some_and(|shows| shows.parse::<End>().is_ok());
    let reference = weak.filter(|_| !fails).map(|_| Reference::unknown());
    let mut replay = Replay {
        request,
        worker: &mut worker,
        shows,
        reference: reference.as_ref(),
        stopped: false,
    };
    let choice = Choice::Replay(named(file)?);
    let run = replay.run_with(choice, &schedule, weak);
    let mut tally = Tally::default();
    let (mut reproduced, mut diverged, mut stopped) = (0, None, false);
    let mut story = None;
    for number in 0..times {
        let run = Run {
            explain: weak.is_some() && number == 0,
            ..run.clone()
        };
        let execution = match replay.worker.run(run) {
            Ok(execution) => execution,
            Err(Problem::Stopped) => {
                stopped = true;
                break;
            }
            Err(Problem::Unseen) => break,
            Err(problem) => return Err(refusal(problem)),
        };
        reproduced += usize::from(execution.header.diverged == 0 && replay.is_shown(&execution));
        if weak.is_some() && number == 0 {
            story = Story::of(&execution);
        }
        if diverged.is_none() {
            diverged = divergence(&schedule, &execution);
        }
        tally.add(Trial::new(execution));
    }
    let schedules = Schedules {
        strategy: format!("replay of {}", quoted(&file.display().to_string())),
        reproduced: Some(reproduced as u64),
        diverged: diverged.as_ref().map(|(step, _)| *step),
        ..Schedules::default()
    };
    let mut course = Course {
        schedules,
        ..Course::default()
    };
    let doubt = keep::doubt(&schedule, request.subject);
    let doubt = doubt.map(|doubt| (Status::Clean, doubt));
    course.notes.extend(doubt);
    let done = tally.runs.done;
    if reproduced > 0 {
        let note = match done {
            1 => "reproduced".to_owned(),
            _ => format!(
                "reproduced in {reproduced} of {}",
                plural(done as u64, "run")
            ),
        };
        course.notes.push((Status::Clean, note));
    }
    if let Some((_, divergence)) = diverged {
        course.notes.push((Status::Undecided, divergence));
    } else if reproduced < done {
        let left = plural((done - reproduced) as u64, "run");
        let note = format!("{left} followed the schedule and did not show what was recorded");
        course.notes.push((Status::Undecided, note));
    }
    let smaller = match request.schedule.minimize && reproduced > 0 {
        true => {
            let smaller = replay.minimize(file, &schedule, weak);
            stopped |= replay.stopped;
            Some(smaller)
        }
        false => None,
    };
    course
        .notes
        .extend(smaller.map(|smaller| (Status::Clean, smaller)));
    tally.runs.interrupted = stopped && setup.is_stopped();
    course.out_of_time = stopped && !setup.is_stopped();
    let (mut found, mut suppressed) = report::found(&tally, &mut suppressions);
    if let Some(reference) = &reference {
        let mut failed = weak::take(&mut tally, reference, request);
        suppressed += suppressions.apply(&mut failed);
        found.splice(0..0, failed);
    }
    if let Some(story) = story {
        found
            .iter_mut()
            .for_each(|found| story.add_to(&mut found.finding));
    }
    let suppressed = (suppressed, &suppressions);
    let (reply, _) = report::conclude(request, tally, course, found, suppressed, &clock);
    Ok(reply)
}

/// The name of a file for the runtime, which may have another folder.
fn named(file: &Path) -> Result<String, String> {
    let name = file.display();
    let file = path::absolute(file).map_err(|error| format!("{name}: {error}"))?;
    let text = text_of(&file)?;
    match text.contains(['\n', '\r']) {
        true => Err(format!(
            "{name}: line breaks in the names of schedules are not supported"
        )),
        false => Ok(text),
    }
}

fn read(file: &Path) -> Result<Schedule, String> {
    let name = file.display();
    let text = files::read_text(file, files::RECORD).map_err(|error| format!("{name}: {error}"))?;
    text.parse().map_err(|error| format!("{name}:{error}"))
}

/// Where a run left the schedule, in words.
fn divergence(schedule: &Schedule, execution: &Execution) -> Option<(u64, String)> {
    let at = execution.header.diverged.checked_sub(1)? as usize;
    let planned = schedule.steps().get(at)?;
    let made = |step: &Step| format!("{} did {}", step.thread, step.op.kind);
    let made = execution.trace.steps.get(at).map(made);
    let made = made.unwrap_or_else(|| "the run ended".to_owned());
    let (thread, kind, step) = (planned.thread, planned.kind, execution.header.diverged);
    let text = format!(
        "the run left the schedule at step {step}: {thread} should do {kind} there, but {made}"
    );
    Some((step, text))
}

/// Runs after which a smaller schedule is not looked for any more.
const TRIES: usize = 2000;

/// Makes runs like a recorded one.
pub(super) struct Replay<'r, 's> {
    request: &'r Request<'r>,
    worker: &'r mut Worker<'s>,
    /// What was recorded of the run.
    shows: Option<String>,
    /// Of weak runs, whose failures are findings: what the program does by itself.
    reference: Option<&'r Reference>,
    /// The user asked to end, or the time was over.
    stopped: bool,
}

impl<'r, 's> Replay<'r, 's> {
    /// For weak runs that show these findings.
    pub(super) fn of_findings(
        request: &'r Request<'r>,
        worker: &'r mut Worker<'s>,
        labels: &[String],
        reference: Option<&'r Reference>,
    ) -> Self {
        Self {
            request,
            worker,
            shows: Some(labels.join("; ")),
            reference,
            stopped: false,
        }
    }

    /// A run like the recorded one: the program's addresses are those that they were then.
    fn run_with(&self, choice: Choice, schedule: &Schedule, weak: Option<Weak>) -> Run {
        let run = Run {
            limit: Some(self.request.limit()),
            steady: schedule.note("strategy") == Some(EXHAUSTIVE),
            ..choice.into()
        };
        match weak {
            Some(weak) => weak.run(run),
            None => run,
        }
    }

    /// Whether a run shows what was recorded; anything, if that is not known.
    fn is_shown(&self, execution: &Execution) -> bool {
        let mut tally = Tally::default();
        let end = execution.end();
        let model = execution.model;
        tally.runs.findings.add(0, &execution.record.findings);
        tally.runs.model = model;
        let (mut found, _) = report::found(&tally, &mut Default::default());
        let reference = self.reference;
        found.extend(reference.and_then(|reference| of_run(execution, reference, self.request)));
        match &self.shows {
            None => !found.is_empty() || !end.is_complete(),
            Some(shows) if shows == keep::STALE => execution.header.deviated > 0,
            Some(shows) => match shows.parse() {
                // It shows that by what it does.
                Ok(End::Diverged) => true,
                Ok(recorded) => recorded == end,
                Err(_) => {
                    let labels: Vec<_> = found.iter().map(|finding| finding.label()).collect();
                    let is_there = |one: &str| labels.iter().any(|label| label == one);
                    shows.split("; ").all(is_there)
                }
            },
        }
    }

    /// The schedule with the fewest stale reads and switches that shows the same.
    pub(super) fn smaller(
        &mut self,
        schedule: &Schedule,
        weak: Option<Weak>,
        tries: usize,
    ) -> Option<Minimized> {
        minimize(schedule, tries, |suggestion| {
            let choice = match weak {
                Some(_) => self.worker.keep(suggestion).map(Choice::Follow),
                None => {
                    let steps = suggestion.steps().iter();
                    Some(Choice::Prefix(steps.map(|step| step.thread).collect()))
                }
            };
            let Some(choice) = choice else {
                return ControlFlow::Break(());
            };
            let run = self.run_with(choice, schedule, weak);
            ControlFlow::Continue(match self.worker.run(run) {
                Ok(execution) => self.is_shown(&execution).then(|| execution.schedule()),
                Err(why) => {
                    self.stopped |= matches!(why, Problem::Stopped);
                    return ControlFlow::Break(());
                }
            })
        })
    }

    /// Writes the schedule with the fewest stale reads and switches that shows the same; what there is to say of it.
    fn minimize(&mut self, file: &Path, schedule: &Schedule, weak: Option<Weak>) -> String {
        let Some(minimized) = self.smaller(schedule, weak, TRIES) else {
            let text = match self.stopped {
                false => "no smaller schedule: the steps alone do not show it again",
                true => "no smaller schedule: there was no time to look for one",
            };
            return text.to_owned();
        };
        let target = smaller(file);
        let (before, after) = (schedule.switches(), minimized.schedule.switches());
        let again = match keep::write(&target, &minimized.schedule) {
            Ok(()) => self.request.replay(&target.display().to_string()),
            Err(message) => format!("not possible, its schedule could not be written: {message}"),
        };
        let cut = match minimized.finished {
            true => "",
            false => "; there may be a smaller one",
        };
        let stale = weak.map_or(String::new(), |_| {
            let (before, after) = (schedule.stale_reads(), minimized.schedule.stale_reads());
            format!("from {before} to {after} stale reads and ")
        });
        format!("minimized {stale}from {before} to {after} context switches{cut}, replay: {again}")
    }
}

/// `a.sched` becomes `a.min.sched`.
fn smaller(file: &Path) -> PathBuf {
    file.with_extension("min.sched")
}
