//! The runs that a Rust program gets unless the user says otherwise: free ones, then some under controlled scheduling.
//!
//! Free runs are as fast as can be and show what really happens. But a thread that is started late is often ordered after an
//! earlier one by what the standard library does for both, and then nothing between them is weak; other schedules show it. The seeds are
//! fixed, so the same program always gets the same schedules. A scheduled run that reaches a limit says nothing of the program; what it
//! found until then counts.

use super::campaign::{self, Memory, Request};
use super::execute::Plan;
use super::run;
use crate::args::{ControlArgs, ScheduleArgs};
use crate::session::Reply;
use crate::status::Status;
use rsan_report::document::Schedules;
use rsan_report::{Judgement, merge};
use rsan_schedule::strategy::Spec;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Free runs.
pub(crate) const FREE: usize = 2;

/// A part of the scheduled runs.
struct Share {
    strategy: &'static str,
    runs: usize,
    time: Duration,
}

/// The scheduled runs: both kinds of schedules find what the other does not.
const SHARES: [Share; 2] = [
    Share {
        strategy: "pct",
        runs: 60,
        time: Duration::from_millis(2000),
    },
    Share {
        strategy: "random",
        runs: 40,
        time: Duration::from_millis(1000),
    },
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
    for share in &SHARES {
        let reply = share.answer(request)?;
        let is_last = enough(&reply);
        scheduled.push(reply);
        if is_last {
            break;
        }
    }
    Ok(Parts { free, scheduled })
}

/// The same as one answer.
///
/// # Errors
/// The message for the user.
pub(crate) fn answer(plan: Plan<'_>, request: &Request<'_>) -> Result<Reply, String> {
    let Parts { free, scheduled } = parts(plan, request)?;
    let interrupted = free.interrupted || scheduled.iter().any(|reply| reply.interrupted);
    let replies = std::iter::once(free).chain(scheduled);
    let documents: Vec<_> = replies.map(|reply| reply.document).collect();
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

/// What is known of several series of scheduled runs; their executions may be the same ones.
fn united(all: &[(Schedules, u64)]) -> Option<Schedules> {
    let ((first, _), _) = all.split_first()?;
    let names: Vec<_> = all
        .iter()
        .map(|(schedules, runs)| format!("{runs} {}", schedules.strategy))
        .collect();
    Some(Schedules {
        strategy: names.join(", "),
        failures: all.iter().flat_map(|(s, _)| s.failures.clone()).collect(),
        executions: all.iter().map(|(s, _)| s.executions).sum(),
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
            // The schedules of one share must not replace those of another.
            out: self.folder(&request.schedule.out),
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
        let mut reply = campaign::answer(&request)?;
        if !reply.interrupted {
            self.forgive(&mut reply);
        }
        Ok(reply)
    }

    fn folder(&self, out: &Path) -> PathBuf {
        match self.strategy == SHARES[0].strategy {
            true => out.to_owned(),
            false => out.join(self.strategy),
        }
    }

    /// Limits of scheduled runs say nothing of the program.
    fn forgive(&self, reply: &mut Reply) {
        let document = &mut reply.document;
        let failures = document.stats.failures.unwrap_or(0);
        if failures > 0 {
            return;
        }
        document.incomplete = false;
        if document.verdict == Judgement::Unknown {
            document.verdict = Judgement::NoFinding;
        }
        let strategy = self.strategy;
        let notes = document.notes.iter_mut();
        notes.for_each(|note| *note = format!("{strategy}: {note}"));
        reply.status = Status::from(&*document);
    }
}
