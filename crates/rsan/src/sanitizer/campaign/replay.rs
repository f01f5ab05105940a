//! `--replay`: a recorded run again, and `--minimize`: with fewer context switches.

use super::execution::Execution;
use super::keep;
use super::pool::Worker;
use super::report::{self, Course};
use super::server::Problem;
use super::tally::{Tally, Trial};
use super::{Clock, EXHAUSTIVE, Request, quoted, refusal};
use crate::files;
use crate::sanitizer::execute::text_of;
use crate::session::Reply;
use crate::status::Status;
use rsan_report::document::Schedules;
use rsan_report::number::plural;
use rsan_schedule::{Choice, End, Request as Run, Schedule, Step, minimize};
use std::ops::ControlFlow;
use std::path::{self, Path, PathBuf};

/// Makes the run again, as often as the user wants, and says what came of it.
pub(super) fn answer(request: &Request<'_>, file: &Path) -> Result<Reply, String> {
    let clock = Clock::new(request.time_limit);
    let schedule = read(file)?;
    let times = request.runs.unwrap_or(1);
    let options = request.options();
    let alone = times == 1 && !request.schedule.minimize;
    let setup = request.setup(options, if alone { 1 } else { 2 }, &clock)?;
    let mut suppressions = report::suppressions(request)?;
    let mut worker = Worker::new(&setup, 0, request.timeout());
    let mut replay = Replay {
        request,
        worker: &mut worker,
        shows: schedule.note("shows").map(str::to_owned),
    };
    let choice = Choice::Replay(named(file)?);
    let run = replay.run_with(choice, &schedule);
    let mut tally = Tally::default();
    let (mut reproduced, mut diverged, mut stopped) = (0, None, false);
    for _ in 0..times {
        let execution = match replay.worker.run(run.clone()) {
            Ok(execution) => execution,
            Err(Problem::Stopped) => {
                stopped = true;
                break;
            }
            Err(Problem::Unseen) => break,
            Err(problem) => return Err(refusal(problem)),
        };
        reproduced += usize::from(execution.header.diverged == 0 && replay.is_shown(&execution));
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
            let (smaller, ended) = replay.minimize(file, &schedule)?;
            stopped |= !ended;
            Some(smaller)
        }
        false => None,
    };
    course
        .notes
        .extend(smaller.map(|smaller| (Status::Clean, smaller)));
    tally.runs.interrupted = stopped && setup.is_stopped();
    course.out_of_time = stopped && !setup.is_stopped();
    let (found, suppressed) = report::found(&tally, &mut suppressions);
    let suppressed = (suppressed, &suppressions);
    let reply = report::conclude(request, tally, course, found, suppressed, &clock);
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

struct Replay<'r, 's> {
    request: &'r Request<'r>,
    worker: &'r mut Worker<'s>,
    /// What was recorded of the run.
    shows: Option<String>,
}

impl Replay<'_, '_> {
    /// A run like the recorded one: the program's addresses are those that they were then.
    fn run_with(&self, choice: Choice, schedule: &Schedule) -> Run {
        Run {
            limit: Some(self.request.limit()),
            steady: schedule.note("strategy") == Some(EXHAUSTIVE),
            ..choice.into()
        }
    }

    /// Whether a run shows what was recorded; anything, if that is not known.
    fn is_shown(&self, execution: &Execution) -> bool {
        let mut tally = Tally::default();
        let end = execution.end();
        let model = execution.model;
        tally.runs.findings.add(0, &execution.record.findings);
        tally.runs.model = model;
        let (found, _) = report::found(&tally, &mut Default::default());
        match &self.shows {
            None => !found.is_empty() || !end.is_complete(),
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

    /// Writes the schedule with the fewest switches that shows the same; what there is to say of it, and whether the search
    /// came to its end.
    fn minimize(&mut self, file: &Path, schedule: &Schedule) -> Result<(String, bool), String> {
        let mut problem = None;
        let minimized = minimize(schedule, TRIES, |suggestion| {
            let steps = suggestion.steps().iter();
            let threads = steps.map(|step| step.thread).collect();
            let run = self.run_with(Choice::Prefix(threads), schedule);
            ControlFlow::Continue(match self.worker.run(run) {
                Ok(execution) => self.is_shown(&execution).then(|| execution.schedule()),
                Err(why) => {
                    problem = Some(why);
                    return ControlFlow::Break(());
                }
            })
        });
        let ended = !matches!(problem, Some(Problem::Stopped));
        let Some(minimized) = minimized else {
            let text = match ended {
                true => "no smaller schedule: the steps alone do not show it again",
                false => "no smaller schedule: there was no time to look for one",
            };
            return Ok((text.to_owned(), ended));
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
        let text =
            format!("minimized from {before} to {after} context switches{cut}, replay: {again}");
        Ok((text, ended))
    }
}

/// `a.sched` becomes `a.min.sched`.
fn smaller(file: &Path) -> PathBuf {
    file.with_extension("min.sched")
}
