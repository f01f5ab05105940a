//! The runs that a program gets unless the user says otherwise: free ones, then some under controlled scheduling.
//!
//! Free runs are as fast as can be and show what really happens. But a thread that is started late often comes after an earlier one has
//! ended, or is ordered after it by what Rust's standard library does for both; other schedules show what is weak between them. The seeds are
//! fixed, so the same program always gets the same schedules. A scheduled run that reaches a limit says nothing of the program; what it
//! found until then counts.

use super::campaign::{self, Memory, Request, Standing};
use super::execute::Plan;
use super::run;
use super::verdict::FAILED;
use crate::args::{ControlArgs, ScheduleArgs};
use crate::session::Reply;
use crate::status::Status;
use rsan_report::document::{Document, FailedRuns, Schedules};
use rsan_report::number::plural;
use rsan_report::{Judgement, merge};
use rsan_schedule::strategy::Spec;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Free runs.
pub(crate) const FREE: usize = 2;

/// A part of the scheduled runs.
struct Share {
    strategy: &'static str,
    /// Seeds that other parts have.
    skipped: u64,
    runs: usize,
    time: Duration,
    /// For its schedules, in the user's: one part must not replace those of another.
    folder: &'static str,
}

impl Share {
    const fn new(
        strategy: &'static str,
        seeds: Range<u64>,
        time: u64,
        folder: &'static str,
    ) -> Self {
        Self {
            strategy,
            skipped: seeds.start,
            runs: (seeds.end - seeds.start) as usize,
            time: Duration::from_millis(time),
            folder,
        }
    }
}

/// The scheduled runs: both kinds of schedules find what the other does not. Some of both are made even if the machine is busy; most
/// programs are done with all of them long before the time is over.
const SHARES: [Share; 5] = [
    Share::new("pct", 0..2, 2000, ""),
    Share::new("pct", 2..12, 4000, "pct"),
    Share::new("random", 0..8, 2000, "random"),
    Share::new("pct", 12..60, 1000, "more-pct"),
    Share::new("random", 8..40, 1000, "more-random"),
];

/// One scheduled run.
const RUN: Duration = Duration::from_millis(500);

/// What the parts of a plan say.
pub(crate) struct Parts {
    pub(crate) free: Reply,
    /// Nothing, if the free runs say enough.
    pub(crate) scheduled: Vec<Reply>,
}

/// Makes the runs. The plan is for the free ones, the request for the others.
///
/// # Errors
/// The message for the user.
pub(crate) fn parts(plan: Plan<'_>, request: &Request<'_>) -> Result<Parts, String> {
    let free = run::answer(plan, request)?;
    let mut scheduled = Vec::new();
    let enough = |reply: &Reply| {
        let halts = request.sanitizer.halt_on_error && reply.document.fails();
        let found = reply.document.verdict == Judgement::Violation;
        reply.interrupted || (halts && found)
    };
    // Whoever hangs by himself does so in every schedule.
    let hangs = free.document.stats.timeouts.is_some_and(|runs| runs > 0);
    if enough(&free) || hangs {
        return Ok(Parts { free, scheduled });
    }
    let failed_freely = free.document.stats.failures.is_some_and(|runs| runs > 0);
    // All shares are runs of one program: they have the same servers.
    let standing = Arc::new(Standing::new()?);
    let request = &Request {
        standing: Some(&standing),
        again: request.again.clone(),
        ..*request
    };
    let (mut planned, mut limited, mut timed) = (0, false, [0; 2]);
    for share in &SHARES {
        let mut reply = share.answer(request)?;
        planned += share.runs as u64;
        let is_last = enough(&reply) || is_alone(&reply);
        match forgive_time(&mut reply, failed_freely) {
            Some(runs) => {
                timed = [timed[0] + runs[0], timed[1] + runs[1]];
                forgive(&mut reply);
            }
            None => limited |= !reply.interrupted && forgive(&mut reply),
        }
        scheduled.push(reply);
        if is_last {
            break;
        }
    }
    let mut parts = Parts { free, scheduled };
    if limited {
        parts.tell_limits(planned);
    }
    if timed[0] > 0 {
        parts.tell_time(timed);
    }
    Ok(parts)
}

/// Whether a run has no step at which more than one thread can go on: all schedules are the same.
fn is_alone(reply: &Reply) -> bool {
    let schedules = reply.document.stats.schedules.as_ref();
    let choices = schedules.and_then(|schedules| schedules.steps);
    choices.is_some_and(|choices| choices <= 1)
}

/// How notes about limits begin.
pub(crate) const LIMITS: &str = "scheduled runs: ";

impl Parts {
    /// Says in how many runs the program failed because of time, or may have.
    fn tell_time(&mut self, [failed, all]: [u64; 2]) {
        self.free.document.notes.push(format!(
            "failed in {failed} of {all} scheduled runs, in which it sleeps or waits with a limit; time is simulated there, so that is not counted"
        ));
    }

    /// Says how far the scheduled runs came, if limits kept them from more.
    fn tell_limits(&mut self, planned: u64) {
        let made = self.scheduled.iter();
        let made = made
            .filter_map(|reply| reply.document.stats.runs)
            .sum::<u64>();
        let how = match made < planned {
            true => format!("{made} of {planned} in the time for them"),
            false => "some reached a limit of time or steps".to_owned(),
        };
        self.free.document.notes.push(format!("{LIMITS}{how}"));
    }
}

/// Failures of scheduled runs, in all of which the program sleeps or waits until a limit of time is over, say little of it: it may rely on
/// what other threads do meanwhile. How many of how many there were.
fn forgive_time(reply: &mut Reply, failed_freely: bool) -> Option<[u64; 2]> {
    let stats = &mut reply.document.stats;
    let failures = stats
        .failures
        .filter(|&runs| runs > 0 && runs == stats.timed_failures)?;
    if failed_freely {
        return None;
    }
    (stats.failures, stats.timed_failures) = (Some(0), 0);
    Some([failures, stats.runs.unwrap_or(failures)])
}

/// Limits of scheduled runs say nothing of the program. Whether there were any.
fn forgive(reply: &mut Reply) -> bool {
    let document = &mut reply.document;
    let limited = document.incomplete || document.verdict == Judgement::Unknown;
    if document.stats.failures.is_some_and(|runs| runs > 0) {
        return false;
    }
    document.incomplete = false;
    if document.verdict == Judgement::Unknown {
        document.verdict = Judgement::NoFinding;
    }
    if let Some(schedules) = &mut document.stats.schedules {
        schedules.failures.clear();
    }
    document.notes.clear();
    reply.status = Status::from(&*document);
    limited
}

/// The same as one answer.
///
/// # Errors
/// The message for the user.
pub(crate) fn answer(plan: Plan<'_>, request: &Request<'_>) -> Result<Reply, String> {
    let Parts { free, scheduled } = parts(plan, request)?;
    let interrupted = free.interrupted || scheduled.iter().any(|reply| reply.interrupted);
    let replies = std::iter::once(free).chain(scheduled);
    let mut documents: Vec<_> = replies.map(|reply| reply.document).collect();
    tell_failures(&mut documents);
    let strategies = documents.iter().filter_map(|document| {
        let schedules = document.stats.schedules.as_ref()?;
        Some((schedules.clone(), document.stats.runs.unwrap_or(0)))
    });
    let strategies: Vec<_> = strategies.collect();
    let document = merge(documents).into_iter().next();
    let mut document = document.ok_or("there was no run")?;
    document.stats.schedules = united(&strategies);
    Ok(Reply {
        status: Status::from(&document),
        document,
        interrupted,
    })
}

/// Says once how the program failed by itself, not for each series of runs.
fn tell_failures(documents: &mut [Document]) {
    let all = documents.iter().filter_map(|document| document.stats.runs);
    let all = plural(all.sum(), "run");
    let mut ends: Vec<(String, u64)> = Vec::new();
    for document in &mut *documents {
        let failures = document.stats.failures.unwrap_or(0);
        document.notes.retain(|note| {
            let told = note.strip_prefix(FAILED);
            let Some((_, how)) = told.and_then(|told| told.split_once(": ")) else {
                return true;
            };
            match ends.iter_mut().find(|(known, _)| known == how) {
                Some((_, runs)) => *runs += failures,
                None => ends.push((how.to_owned(), failures)),
            }
            false
        });
    }
    let told = ends.into_iter();
    let told = told.map(|(how, runs)| format!("{FAILED}{runs} of {all}: {how}"));
    if let Some(first) = documents.first_mut() {
        first.notes.extend(told);
    }
}

/// The same failures of several series as one.
fn united_failures<'a>(all: impl Iterator<Item = &'a FailedRuns>) -> Vec<FailedRuns> {
    let mut united: Vec<FailedRuns> = Vec::new();
    for failed in all {
        match united.iter_mut().find(|known| known.how == failed.how) {
            Some(known) => known.runs += failed.runs,
            None => united.push(failed.clone()),
        }
    }
    united
}

/// What is known of several series of scheduled runs; their executions may be the same ones.
fn united(all: &[(Schedules, u64)]) -> Option<Schedules> {
    let (first, _) = all.first()?;
    let mut strategies: Vec<(&str, u64)> = Vec::new();
    for (schedules, runs) in all {
        match strategies
            .iter_mut()
            .find(|(name, _)| *name == schedules.strategy)
        {
            Some((_, known)) => *known += runs,
            None => strategies.push((&schedules.strategy, *runs)),
        }
    }
    let strategies = strategies.into_iter();
    let strategies: Vec<_> = strategies
        .map(|(name, runs)| format!("{runs} {name}"))
        .collect();
    Some(Schedules {
        strategy: strategies.join(", "),
        failures: united_failures(all.iter().flat_map(|(s, _)| &s.failures)),
        // At least so many.
        executions: all.iter().map(|(s, _)| s.executions).max().unwrap_or(0),
        last_new: 0,
        seed: None,
        steps: None,
        ..first.clone()
    })
}

impl Share {
    fn answer(&self, request: &Request<'_>) -> Result<Reply, String> {
        let spec = self.strategy.parse::<Spec>();
        let left = request
            .time_limit
            .map_or(self.time, |all| all.min(self.time));
        let control = ControlArgs {
            // One run that hangs must not take the time of all.
            timeout: Some(request.schedule.timeout.unwrap_or(RUN).min(RUN)),
            out: request.schedule.out.join(self.folder),
            seed: request.schedule.seed.wrapping_add(self.skipped),
            ..request.schedule.clone()
        };
        let schedule = ScheduleArgs {
            sched: Some(spec.map_err(|error| error.to_string())?),
            until_saturated: false,
            max_preemptions: None,
            control: control.clone(),
        };
        let request = Request {
            memory: Memory::Sequential(&schedule),
            schedule: &control,
            runs: Some(self.runs),
            time_limit: Some(left),
            again: request.again.clone(),
            ..*request
        };
        campaign::answer(&request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsan_model::Model;
    use rsan_report::document::Command;

    #[test]
    fn how_it_failed_is_said_once() {
        let failed = |runs: u64, failures: u64, how: &str| {
            let verdict = Judgement::Unknown;
            let mut document = Document::new(Command::Check, "a.c", verdict, Model::C20);
            document.stats.runs = Some(runs);
            document.stats.failures = Some(failures);
            document.notes = vec![
                "interrupted".to_owned(),
                format!("{FAILED}{failures} of {runs} runs: {how}"),
            ];
            document
        };
        let abort = "signal 6 (SIGABRT), at a.c:6: it is wrong";
        let mut documents = [
            failed(2, 2, abort),
            failed(10, 3, abort),
            failed(8, 1, "exit status 3"),
        ];
        tell_failures(&mut documents);
        let told = [
            "interrupted",
            "the program failed in 5 of 20 runs: signal 6 (SIGABRT), at a.c:6: it is wrong",
            "the program failed in 1 of 20 runs: exit status 3",
        ];
        assert_eq!(documents[0].notes, told);
        assert_eq!(documents[1].notes, ["interrupted"]);
    }

    #[test]
    fn parts_have_seeds_and_folders_of_their_own() {
        let runs: usize = SHARES.iter().map(|share| share.runs).sum();
        assert_eq!(runs, 100);
        for (index, one) in SHARES.iter().enumerate() {
            for other in &SHARES[..index] {
                assert_ne!(one.folder, other.folder);
                let before = other.skipped + other.runs as u64;
                assert!(one.strategy != other.strategy || one.skipped >= before);
            }
        }
    }
}
