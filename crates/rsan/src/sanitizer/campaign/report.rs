//! The answer of a campaign: its schedules in files, and what to say of it.

use super::confirm::{Seen, confirm};
use super::keep::Files;
use super::sharded::Made;
use super::tally::Tally;
use super::{Clock, Memory, Request};
use crate::sanitizer::findings::{self, Found};
use crate::sanitizer::run::{Conclusion, halts, include_libraries};
use crate::sanitizer::suppress::Suppressions;
use crate::sanitizer::verdict::judge;
use crate::session::Reply;
use crate::status::Status;
use rsan_model::Model;
use rsan_report::document::{Exploration, Schedules};
use rsan_schedule::explore::Progress;

/// How a campaign went: what the document says of it, and what it means for the answer.
#[derive(Default)]
pub(super) struct Course {
    pub(super) schedules: Schedules,
    /// The time for all runs was over.
    pub(super) out_of_time: bool,
    /// More to say, and what it means for the status.
    pub(super) notes: Vec<(Status, String)>,
}

/// How far a search for all executions came.
pub(super) fn exploration(progress: &Progress) -> Exploration {
    let counts = &progress.counts;
    let estimate = progress.estimate().filter(|_| progress.waiting > 0);
    Exploration {
        complete: progress.is_complete(),
        executions: counts.executions,
        excess: counts.excess,
        cut: counts.cut,
        failed: counts.failed,
        diverged: counts.diverged,
        left: progress.waiting as u64,
        preempted: counts.preempted,
        estimate,
        outcomes: Vec::new(),
    }
}

/// The suppressions that the user wants.
pub(super) fn suppressions(request: &Request<'_>) -> Result<Suppressions, String> {
    Suppressions::wanted(request.sanitizer)
}

/// The findings that the user wants to see, and how many there are that he does not.
pub(super) fn found(tally: &Tally, suppressions: &mut Suppressions) -> (Vec<Found>, usize) {
    let model = tally.runs.model.unwrap_or(Model::C20);
    let mut found = findings::findings(&tally.runs.findings, model);
    let suppressed = suppressions.apply(&mut found) + tally.runs.suppressed;
    // Every run is a process of the same program.
    let all = found.iter_mut();
    all.for_each(|found| found.finding.process = None);
    (found, suppressed)
}

/// Whether there is a finding that ends the campaign, if the user wants it to end at the first one.
pub(super) fn is_halted(request: &Request<'_>, tally: &Tally, suppressions: &Suppressions) -> bool {
    let model = tally.runs.model.unwrap_or(Model::C20);
    let mut found = findings::findings(&tally.runs.findings, model).into_iter();
    let (args, bar) = (request.sanitizer, request.report.fail_on);
    args.halt_on_error
        && found.any(|found| halts(&found, args, bar) && !suppressions.suppresses(&found))
}

/// The answer, with files for the schedules of whatever was found.
pub(super) fn reply(
    request: &Request<'_>,
    tally: Tally,
    mut course: Course,
    mut suppressions: Suppressions,
    clock: &Clock,
) -> (Reply, Made) {
    let (mut found, suppressed) = found(&tally, &mut suppressions);
    include_libraries(&mut found, request.sanitizer);
    let mut files = Files::new(request);
    files.keep_findings(&mut found, &tally, &course.schedules);
    course.schedules.failures = files.keep_failures(&tally.failures, &course.schedules);
    // What was found is told all the same.
    let unwritten = files.unwritten.map(|why| {
        let note = format!("schedules could not be written: {why}");
        (Status::Clean, note)
    });
    course.notes.extend(unwritten);
    let seen = Seen {
        findings: &tally.runs.findings,
        failed: tally
            .failures
            .iter()
            .map(|failure| (failure.end, failure.said.clone()))
            .collect(),
        tally: Some(&tally),
    };
    let confirmed = confirm(request, clock, &mut found, &seen);
    let confirmed = confirmed.map(|note| (Status::Clean, note));
    course.notes.extend(confirmed);
    conclude(
        request,
        tally,
        course,
        found,
        (suppressed, &suppressions),
        clock,
    )
}

/// The answer.
pub(super) fn conclude(
    request: &Request<'_>,
    tally: Tally,
    course: Course,
    mut found: Vec<Found>,
    (suppressed, suppressions): (usize, &Suppressions),
    clock: &Clock,
) -> (Reply, Made) {
    let runs = tally.runs;
    let mut schedules = course.schedules;
    include_libraries(&mut found, request.sanitizer);
    let (mut status, mut notes) = judge(&runs, &request.program[0], &found);
    if course.out_of_time {
        notes.push(request.out_of_time());
        status = status.and(Status::Undecided);
    }
    for (more, note) in course.notes {
        status = status.and(more);
        notes.push(note);
    }
    notes.extend(suppressions.notes(suppressed));
    schedules.executions = tally.coverage.distinct();
    schedules.last_new = tally.coverage.last_new();
    let exploration = schedules.exploration.as_ref();
    // Weak executions say nothing of robustness.
    let sequential = matches!(request.memory, Memory::Sequential(_));
    let mut explored = sequential && exploration.is_some_and(|all| all.complete);
    if explored && !request.as_written {
        explored = false;
        let counts = found.iter().any(|found| found.finding.counts());
        if status == Status::Clean && !counts {
            let note = "no proof of the source: the compiler may have removed accesses";
            notes.push(note.to_owned());
        }
    }
    let seconds = clock.start.elapsed().as_secs_f64();
    schedules.runs_per_second = (runs.done as f64 / seconds.max(1e-6)).round();
    let conclusion = Conclusion {
        command: request.command,
        subject: request.subject,
        status,
        notes,
        found,
        suppressed,
        in_standard: suppressions.in_standard(),
        explored,
        seconds,
        schedules: Some(schedules),
    };
    let sampled = !request.portion.is_whole() && !request.schedule.exhaustive;
    let made = Made {
        coverage: sampled.then(|| tally.coverage.executions().collect()),
        dealt: None,
    };
    (conclusion.reply(&runs), made)
}
