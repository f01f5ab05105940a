//! `--sched`: a run for each of many seeds.

use super::pool::{Worker, in_order};
use super::report::{self, Course};
use super::server::Problem;
use super::sharded::Made;
use super::tally::{Tally, Trial};
use super::{Clock, Request, refusal};
use crate::args::ScheduleArgs;
use crate::progress::Progress;
use crate::session::Reply;
use rsan_report::document::Schedules;
use rsan_schedule::shared::Header;
use rsan_schedule::strategy::Spec;
use rsan_schedule::{Choice, Request as Run};
use std::ops::ControlFlow;

/// Runs if the user does not say how many.
pub(super) const RUNS: usize = 1000;
/// With `--until-saturated`: the probability of something new that is small enough.
const SMALL: f64 = 0.005;

/// Makes the runs, and says what came of them.
pub(super) fn answer(request: &Request<'_>, args: &ScheduleArgs) -> Result<(Reply, Made), String> {
    let clock = Clock::new(request.time_limit);
    let spec = args.sched.unwrap_or(Spec::Random);
    let slice = request.slice();
    let count = slice.len;
    let options = request.options();
    let setup = request.setup(options, count, &clock)?;
    let suppressions = report::suppressions(request)?;
    let mut first = Worker::new(&setup, 0, request.timeout());
    let (length, mut problem) = match length(request, &mut first, spec) {
        Ok(length) => (length, None),
        Err(problem) => (None, Some(problem)),
    };
    drop(first);
    let seed = request.schedule.seed;
    let mut tally = Tally::default();
    let mut saturated = false;
    let mut progress = Progress::new(request.subject);
    let work = |worker: &mut Worker<'_>, run: usize| {
        let seed = seed.wrapping_add(slice.index(run) as u64);
        let run = run_with(spec, seed, length, request.limit());
        worker.run(run).map(Trial::new)
    };
    let planned = if problem.is_none() { count } else { 0 };
    let made = in_order(
        &setup,
        request.jobs(),
        request.timeout(),
        planned,
        work,
        |run, trial| {
            let new = match trial {
                Ok(trial) => tally.add(trial),
                Err(why) => {
                    problem = Some(why);
                    return ControlFlow::Break(());
                }
            };
            if run.is_multiple_of(64) {
                progress.show(&state(&tally, count));
            }
            if new && report::is_halted(request, &tally, &suppressions) {
                tally.runs.halted = true;
                return ControlFlow::Break(());
            }
            saturated = args.until_saturated && tally.coverage.is_saturated(SMALL);
            let over = saturated || setup.is_over();
            match over && run + 1 < count {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        },
    );
    drop(progress);
    let problem = made.err().or(problem);
    let unseen = match problem {
        Some(Problem::Unseen) => true,
        Some(Problem::Stopped) | None => false,
        Some(problem) => return Err(refusal(problem)),
    };
    let ended = tally.runs.done == count || saturated || tally.runs.halted || unseen;
    let is_whole = request.portion.is_whole();
    tally.runs.interrupted = setup.is_stopped() && !ended && is_whole;
    let schedules = Schedules {
        strategy: spec.to_string(),
        seed: Some(seed.wrapping_add(slice.start as u64)),
        stride: (!is_whole).then_some(slice.step as u64),
        steps: length.map(|length| length.choices),
        saturated: args.until_saturated.then_some(saturated),
        ..Schedules::default()
    };
    let course = Course {
        schedules,
        out_of_time: is_whole && !ended && !tally.runs.interrupted,
        notes: Vec::new(),
    };
    Ok(report::reply(request, tally, course, suppressions, &clock))
}

/// How long a run is.
#[derive(Clone, Copy)]
pub(super) struct Length {
    pub(super) steps: u64,
    /// Steps at which more than one thread could go on.
    pub(super) choices: u64,
}

/// How the run with a seed goes. A thread that makes more steps in a row than two whole runs have is taken to wait.
pub(super) fn run_with(spec: Spec, seed: u64, length: Option<Length>, limit: u64) -> Run {
    let steps = length.map(|length| length.choices);
    Run {
        limit: Some(limit),
        turn: length.map(|length| length.steps.saturating_mul(2)),
        ..Choice::Sample { spec, seed, steps }.into()
    }
}

/// The length of a run for strategies that want to know it: that of the first seed's random walk.
fn length(
    request: &Request<'_>,
    worker: &mut Worker<'_>,
    spec: Spec,
) -> Result<Option<Length>, Problem> {
    let Spec::Pct { .. } = spec else {
        return Ok(None);
    };
    let run = run_with(Spec::Random, request.schedule.seed, None, request.limit());
    let header = worker.run(run)?.header;
    Ok(Some(Length::of(&header)))
}

impl Length {
    /// That of a run.
    pub(super) fn of(header: &Header) -> Self {
        Self {
            steps: header.steps,
            choices: header.choices.max(1),
        }
    }
}

/// How far it is.
pub(super) fn state(tally: &Tally, count: usize) -> String {
    let found = tally.runs.findings.iter().count();
    let s = if found == 1 { "" } else { "s" };
    format!(
        "run {} of {count}, {} executions, {found} finding{s}",
        tally.runs.done,
        tally.coverage.distinct()
    )
}
