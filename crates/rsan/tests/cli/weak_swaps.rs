//! Weak compare-and-swaps of Rust programs where all executions are explored: the usual loops are decided, and what only a failure for no
//! reason shows is found.

use crate::common::{Run, rsan, scratch, tests_dir};
use crate::sanitizer::gcc_is_missing;
use std::path::Path;

/// Explores a program of `weak_swaps.rs`.
fn explore(options: &[&str], program: &str) -> Run {
    let source = tests_dir().join("data/rust/weak_swaps.rs");
    let source = source.to_str().expect("a UTF-8 path");
    let folder = scratch(&format!("weak-swaps-{program}-{}", options.concat()));
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    let words = [
        &["check", "--exhaustive"],
        options,
        &[source, "--", program],
    ]
    .concat();
    let output = rsan(Path::new(&folder)).args(words).output();
    output.expect("rsan starts").into()
}

#[track_caller]
fn answers(run: &Run, code: i32, part: &str) {
    let Run { stdout, stderr, .. } = run;
    assert!(
        run.code == code && stdout.contains(part),
        "not {code} and {part:?}: {} and {stdout}{stderr}",
        run.code
    );
}

/// Without optimisation, what a failure returned lies on the stack; with it, nothing is left of it.
const LEVELS: [&[&str]; 2] = [&[], &["-Copt-level=3"]];

const LOOPS: [&str; 7] = [
    "spin_lock",
    "stack",
    "linked_stack",
    "updates",
    "queue",
    "channel",
    "attempts",
];

#[test]
fn loops_that_try_again_are_decided() {
    if gcc_is_missing() {
        return;
    }
    let without_memory = |name: &&&str| !name.ends_with("stack");
    for level in LEVELS {
        for program in LOOPS.iter().filter(without_memory) {
            answers(&explore(level, program), 0, ": robust, ");
        }
    }
    answers(&explore(LEVELS[1], "stack"), 0, ": robust, ");
}

#[test]
fn broken_loops_are_found() {
    if gcc_is_missing() {
        return;
    }
    for program in LOOPS {
        answers(&explore(&["--cfg", "broken"], program), 1, "data race");
    }
}

/// Programs that give up, count their failures, or look at something else before they try again.
#[test]
fn what_only_a_failure_for_no_reason_shows_is_found() {
    if gcc_is_missing() {
        return;
    }
    for level in LEVELS {
        for program in ["gives_up", "counts", "looks"] {
            let found = explore(level, program);
            answers(&found, 1, "data race");
            assert!(found.stdout.contains("Replay: "), "{}", found.stdout);
        }
    }
}

/// A count of failures has no end: what the first three of them lead to is explored.
#[test]
fn failures_without_end_are_no_proof() {
    if gcc_is_missing() {
        return;
    }
    let counted = explore(&[], "tells");
    answers(&counted, 3, "could fail for no reason once more");
}
