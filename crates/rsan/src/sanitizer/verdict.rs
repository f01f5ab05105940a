//! What a series of runs means: the exit status, and what there is to say about it.

use super::execute::Runs;
use super::findings::Found;
use super::record::{Fatal, Undecided};
use super::symbols::Symbols;
use crate::status::Status;
use rsan_log::{Failure, Frame as Address, Manner};
use rsan_report::document::{Frame, place_of};
use rsan_report::number::plural;
use rsan_schedule::End;
use signal_hook::low_level::signal_name;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The exit status of a program whose findings could not be logged.
const UNLOGGED: i32 = 66;

/// The signal of a system call that a filter forbids.
const SIGSYS: i32 = 31;

/// System calls of the runtime after its start.
const NEEDED: &str = "clone, close, fcntl, fstat, futex, getpid, gettid, madvise, mmap, mprotect, mremap, munmap, open, \
    openat, prctl, read, readlink, rt_sigprocmask, rt_sigtimedwait, rt_tgsigqueueinfo, sched_yield, stat, statx, wait4 and write";

/// The status, findings aside, and the notes about it.
pub(crate) fn judge(runs: &Runs, program: &OsStr, all: &[Found]) -> (Status, Vec<String>) {
    let found = all
        .iter()
        .filter(|found| !found.finding.in_libraries)
        .count();
    let mut notes = Vec::new();
    let mut status = Status::Clean;
    // A part of an exploration may have nothing to run.
    let is_empty = runs.done == 0 && runs.main_seen;
    if runs.unseen == runs.done && !is_empty {
        notes.push(
            "no process ran with rsan's library: the program was not linked by `rsan cc` or `rsan c++`"
                .to_owned(),
        );
        status = status.and(Status::Undecided);
    } else if runs.unseen > 0 {
        let unseen = count(runs.unseen);
        notes.push(format!("no process ran with rsan's library in {unseen}"));
        status = status.and(Status::Undecided);
    } else if !runs.main_seen {
        let name = program.display();
        let processes = match runs.processes {
            1 => "1 process that was".to_owned(),
            number => format!("{number} processes that were"),
        };
        notes.push(format!(
            "{name} itself was not built with rsan, but it started {processes}"
        ));
    }
    if let Some(fatal) = &runs.fatal {
        let (fatals, message) = (count(runs.fatals), explained(fatal));
        notes.push(format!("the runtime had to end {fatals}: {message}"));
        status = status.and(Status::Undecided);
    }
    if runs.timeouts > 0 {
        notes.push(format!("{} reached the time limit", count(runs.timeouts)));
        status = status.and(Status::Undecided);
    }
    let more = [
        (runs.cut, "took too many steps and did not end".to_owned()),
        (runs.vanished, End::Silent.to_string()),
        (runs.forks, End::Forked.to_string()),
        (runs.deaths, End::ServerDied.to_string()),
    ];
    for (number, what) in more.into_iter().filter(|(number, _)| *number > 0) {
        notes.push(format!("{} {what}", count(number)));
        status = status.and(Status::Undecided);
    }
    if runs.unreadable > 0 {
        let lines = plural(runs.unreadable as u64, "line");
        notes.push(format!("the log has {lines} that cannot be read"));
        status = status.and(Status::Undecided);
    }
    if runs.interrupted {
        notes.push("interrupted".to_owned());
        status = status.and(Status::Undecided);
    }
    if runs.halted {
        notes.push("ended at the first finding".to_owned());
    }
    if let Some(failure) = runs.failure {
        notes.push(format!(
            "{FAILED}{} of {}: {}{}",
            runs.failures,
            count(runs.done),
            ended(failure),
            runs.failed.as_ref().map_or(String::new(), said)
        ));
        status = status.and(Status::Failed);
    }
    if found > 0 && !runs.foreign.is_empty() {
        let names: Vec<_> = runs.foreign.iter().map(String::as_str).collect();
        let names = names.join(", ");
        notes.push(format!(
            "not instrumented, so what they order by means of their own is not seen: {names}"
        ));
    }
    (status, notes)
}

/// How notes about runs begin in which the program failed by itself; how many of how many, and how.
pub(crate) const FAILED: &str = "the program failed in ";

/// `1 run`, `2 runs`
fn count(number: usize) -> String {
    plural(number as u64, "run")
}

/// Why the runtime ended a run, and where.
fn explained(fatal: &Fatal) -> String {
    let message = &fatal.message;
    match place(&mut Symbols::default(), &fatal.stack) {
        Some(place) => format!("{place}: {message}"),
        None => message.clone(),
    }
}

/// What a program said about its failure, after how it ended.
fn said(failure: &Failure<'_>) -> String {
    let stack = Symbols::default().stack(&failure.stack);
    // Where Rust's standard library ends a program after a panic says nothing about the panic, nor does the `main` of tests that calls it.
    let is_harness = |frame: &Frame| frame.function.as_deref().is_some_and(is_harness);
    let by_harness = |own: &Frame| {
        let mut inner = stack.iter().take_while(|frame| !std::ptr::eq(*frame, own));
        inner.any(is_harness)
    };
    let own = place_of(&stack).filter(|own| !own.is_of_standard() && !by_harness(own));
    let place = own.and_then(Frame::place).map(|place| place.file_line());
    match (&failure.manner, place) {
        (
            Manner::Assertion {
                text, file, line, ..
            },
            _,
        ) => format!(", assertion `{text}` of {file}:{line}"),
        (Manner::Abort | Manner::Signal { .. } | Manner::Exit { .. }, Some(place)) => {
            format!(", at {place}")
        }
        (Manner::Abort | Manner::Signal { .. } | Manner::Exit { .. }, None) => String::new(),
    }
}

/// Whether a function runs the tests of a program.
fn is_harness(function: &str) -> bool {
    function.starts_with("test::test_main")
}

/// Places that are named for one reason.
const PLACES: usize = 3;

/// What could not be decided, and where: a text for each reason.
pub(super) fn undecided(all: &BTreeSet<Undecided>) -> Vec<String> {
    let mut symbols = Symbols::default();
    let mut reasons: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for Undecided { message, stack } in all {
        let places = reasons.entry(message).or_default();
        places.extend(place(&mut symbols, stack));
    }
    let text = |(why, places): (&str, BTreeSet<String>)| {
        let mut named: Vec<_> = places.iter().take(PLACES).cloned().collect();
        if places.len() > PLACES {
            named.push(format!("and {} more places", places.len() - PLACES));
        }
        match named.join(", ") {
            none if none.is_empty() => format!("undecided: {why}"),
            places => format!("undecided at {places}: {why}"),
        }
    };
    reasons.into_iter().map(text).collect()
}

fn place(symbols: &mut Symbols, stack: &[Address]) -> Option<String> {
    let place = place_of(&symbols.stack(stack)).and_then(Frame::place);
    place.map(|place| place.file_line())
}

/// How a run ended, with what is known of a program that failed.
pub(super) fn described(end: End) -> String {
    match end {
        End::Failed(status) => ended(ExitStatus::from_raw(status)),
        other => other.to_string(),
    }
}

/// How a program ended.
pub(super) fn ended(status: ExitStatus) -> String {
    match (status.signal(), status.code().unwrap_or_default()) {
        (Some(SIGSYS), _) => format!(
            "signal {SIGSYS} (SIGSYS): a filter of system calls (seccomp) forbids one. The runtime makes some of its own: \
             the filter must allow {NEEDED}"
        ),
        (Some(signal), _) => match signal_name(signal) {
            Some(name) => format!("signal {signal} ({name})"),
            None => format!("signal {signal}"),
        },
        (None, UNLOGGED) => format!(
            "exit status {UNLOGGED}, which is also that of findings that could not be logged; they stand on standard error"
        ),
        (None, 127) => "exit status 127: it, or a library that it needs, was not found".to_owned(),
        (None, code) => format!("exit status {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_may_be_a_finding() {
        let mut runs = Runs {
            done: 1,
            main_seen: true,
            ..Runs::default()
        };
        let judged = |runs: &Runs| judge(runs, OsStr::new("a.out"), &[]);
        assert_eq!(judged(&runs), (Status::Clean, Vec::new()));
        runs.unreadable = 1;
        let note = "the log has 1 line that cannot be read".to_owned();
        assert_eq!(judged(&runs), (Status::Undecided, vec![note]));
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(ended(ExitStatus::from_raw(11)), "signal 11 (SIGSEGV)");
        assert_eq!(ended(ExitStatus::from_raw(3 << 8)), "exit status 3");
        assert!(ended(ExitStatus::from_raw(SIGSYS)).contains("seccomp"));
    }
}
