//! How a program failed, and where: in plain runs and under controlled scheduling.

use crate::common::scratch;
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use serde_json::Value;
use std::path::Path;

/// A folder with the program, built.
fn built(test: &str) -> String {
    let folder = scratch(&format!("failures-{test}"));
    let source = data("scheduled/failing.c");
    compile(
        &folder,
        &["cc", "-g", "-O1", "-pthread", "-o", "failing", &source],
    );
    folder
}

#[track_caller]
fn fails(folder: &str, options: &[&str], how: &str, expected: &str) {
    let words = [&["run"], options, &["--", "./failing", how]].concat();
    let run = run_in(folder, &words);
    assert_eq!(run.code, 4, "{how}: {}{}", run.stdout, run.stderr);
    let note = format!("the program failed in 1 of 1 run: {expected}\n");
    assert!(
        run.stdout.replace("; ", "\n").contains(&note) || run.stdout.contains(&note),
        "{how}: no {note:?} in {}{}",
        run.stdout,
        run.stderr
    );
}

/// The ways that a program says itself.
const SAID: &[(&str, &str)] = &[
    (
        "assertion",
        "signal 6 (SIGABRT), assertion `atomic_load(&one) == 2` of FILE:28",
    ),
    ("abort", "signal 6 (SIGABRT), at FILE:30"),
    ("exit", "exit status 3, at FILE:34"),
    ("_exit", "exit status 4, at FILE:36"),
    ("return", "exit status 9"),
];

/// Those that a handler sees.
const SIGNALS: &[(&str, &str)] = &[
    ("write", "signal 11 (SIGSEGV), at FILE:32"),
    ("atomic", "signal 11 (SIGSEGV), at FILE:38"),
    ("stack", "signal 11 (SIGSEGV), at FILE:18"),
    ("raise", "signal 7 (SIGBUS), at FILE:42"),
    ("trap", "signal 4 (SIGILL), at FILE:44"),
    ("default", "signal 11 (SIGSEGV), at FILE:58"),
];

#[test]
fn a_program_that_fails_says_how_and_where() {
    if gcc_is_missing() {
        return;
    }
    let (folder, file) = (built("said"), data("scheduled/failing.c"));
    for (how, expected) in SAID {
        fails(&folder, &[], how, &expected.replace("FILE", &file));
    }
}

#[test]
fn under_a_schedule_so_does_one_that_a_signal_ends() {
    if gcc_is_missing() {
        return;
    }
    let (folder, file) = (built("signals"), data("scheduled/failing.c"));
    let one = ["--sched", "random", "--runs", "1"];
    for (how, expected) in SAID.iter().chain(SIGNALS) {
        fails(&folder, &one, how, &expected.replace("FILE", &file));
    }
    // A handler of the program is left alone; it ends the process with the number of the signal.
    let words = [&["run"], &one[..], &["--", "./failing", "handled"]].concat();
    let run = run_in(&folder, &words);
    assert!(run.stdout.contains("exit status 11"), "{}", run.stdout);
}

#[test]
fn the_log_has_the_stack_and_the_thread_of_a_failure() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("log");
    run_in(
        &folder,
        &["run", "--log", "kept", "--", "./failing", "assertion"],
    );
    let log = std::fs::read_to_string(Path::new(&folder).join("kept/run-1.jsonl"));
    let log = log.expect("the log is kept");
    let failed = |line: &str| -> Option<Value> {
        let line: Value = serde_json::from_str(line).ok()?;
        (line["kind"] == "failed").then(|| line["failure"].clone())
    };
    let failed: Vec<_> = log.lines().filter_map(failed).collect();
    let [failure] = failed.as_slice() else {
        panic!("one failure in {log}");
    };
    assert_eq!(failure["manner"]["kind"], "assertion");
    assert_eq!(failure["manner"]["function"], "work");
    assert_eq!(failure["thread"], 1);
    let stack = failure["stack"].as_array().expect("a stack");
    let module = stack.first().and_then(|frame| frame["module"].as_str());
    assert!(module.is_some_and(|module| module.ends_with("/failing")));
}
