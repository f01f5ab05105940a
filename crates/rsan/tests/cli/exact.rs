//! What an exploration of all executions claims: nothing that the sanitizer forgets for speed may be missing in a proof.

use crate::common::{Run, rsan, scratch};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use std::path::Path;

/// A folder of the test's own with a program of `scheduled`, built.
fn built(test: &str, program: &str) -> String {
    let folder = scratch(&format!("exact-{test}"));
    let source = data(&format!("scheduled/{program}.c"));
    let arguments = ["cc", "-g", "-O1", "-pthread", "-o", program, &source];
    compile(&folder, &arguments);
    folder
}

fn explore(folder: &str, program: &[&str]) -> Run {
    run_in(folder, &[&["run", "--exhaustive", "--"], program].concat())
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

/// One access that is not ordered, among many that are.
#[test]
fn no_access_is_forgotten() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("crowd", "crowd");
    for (case, threads, weak) in [
        ("words", "5", "1"),
        ("words", "6", "4"),
        ("words", "7", "5"),
        ("words", "8", "6"),
        ("words", "9", "7"),
        ("joined", "6", "1"),
        ("bytes", "8", "5"),
        ("parts", "9", "4"),
        ("copies", "6", "1"),
        ("loads", "9", "3"),
        ("stores", "1", "0"),
        ("freed", "2", "1"),
    ] {
        let racy = explore(&folder, &["./crowd", case, threads, weak]);
        answers(&racy, 1, "error: data race ");
        let ordered = explore(&folder, &["./crowd", case, threads, "-1"]);
        answers(&ordered, 0, "./crowd: robust, no finding in ");
    }
}

/// Whether the program can tell a stale value is decided, at every occurrence, for every value, and for every word that is read
/// then; and each rule that this needs is needed.
#[test]
fn stale_values_are_decided() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("exact-stale");
    let source = data("scheduled/stale.c");
    let written = ["cc", "--rsan-as-written", "-pthread", "-o", "stale"];
    compile(&folder, &[&written[..], &[&source]].concat());
    let is_weak = |case: &str, options: &str| {
        let mut command = rsan(Path::new(&folder));
        command.env("RSAN_OPTIONS", options);
        command.args(["run", "--exhaustive", "--", "./stale", case]);
        let run: Run = command.output().expect("rsan starts").into();
        let weak = run.stdout.contains(": not robust at ");
        let robust = run.stdout.starts_with("./stale: robust, no finding in ");
        let deadlock = run.stdout.contains("error: deadlock at ");
        let what = format!("{case}, {options}: {}{}", run.stdout, run.stderr);
        assert!(weak || robust || deadlock, "{what}");
        weak
    };
    for (case, broken) in [
        ("same-value", &["waits"][..]),
        ("eleventh", &["waits"]),
        ("two-words", &["waits", "words"]),
        ("before-wait", &["waits"]),
        ("before-endless-wait", &["waits", "loops", "places"]),
        ("test-and-tell", &[]),
        ("test-and-know-less", &[]),
    ] {
        assert!(is_weak(case, ""), "{case}");
        for rule in ["waits", "words", "loops", "places"] {
            let found = is_weak(case, &format!("approximate={rule}"));
            assert_eq!(found, !broken.contains(&rule), "{case} without {rule}");
        }
    }
    for case in [
        "two-words-fenced",
        "two-words-released",
        "retry",
        "test-and-swap",
        "test-and-loop",
        "wait",
        "wait-annotated",
    ] {
        assert!(!is_weak(case, ""), "{case}");
    }
}

/// A granule that forgets plain accesses is noticed.
#[test]
fn forgotten_accesses_are_noticed() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("forgotten", "crowd");
    let mut command = rsan(Path::new(&folder));
    command.env("RSAN_OPTIONS", "approximate=readers");
    command.args(["run", "--exhaustive", "--", "./crowd", "words", "6", "4"]);
    let run: Run = command.output().expect("rsan starts").into();
    answers(&run, 0, "./crowd: robust, no finding in ");
}

/// A thread whose writes can no longer be told from each other is part of no proof.
#[test]
fn what_is_not_decided_is_no_proof() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("undecided", "crowd");
    let program = ["./crowd", "words", "1", "-1"];
    let mut command = rsan(Path::new(&folder));
    command.env("RSAN_OPTIONS", "first_epoch=4294967295");
    command.args(["run", "--exhaustive", "--checkpoint", "saved.json", "--"]);
    let _ = std::fs::remove_file(Path::new(&folder).join("saved.json"));
    let counted = command.args(program).output().expect("rsan starts").into();
    let part = "a thread has made more writes and fences than can be counted";
    answers(&counted, 3, part);
    answers(&counted, 3, ": undecided, no finding in ");
    // What was explored before is not explored again.
    let saved = ["run", "--exhaustive", "--checkpoint", "saved.json", "--"];
    let later = run_in(&folder, &[&saved[..], &program].concat());
    answers(&later, 3, part);
    answers(&explore(&folder, &program), 0, ": robust, ");
}

/// What a plain write left is not known, and a compare-and-swap may find it.
#[test]
fn an_old_value_that_is_not_known_is_no_proof() {
    if gcc_is_missing() {
        return;
    }
    let source = data("scheduled/compared.c");
    let explored = run_in(
        &scratch("exact-compared"),
        &["check", "--exhaustive", &source],
    );
    let place =
        format!("undecided at {source}:16: an old value that may be read here is not known");
    answers(&explored, 3, &place);
}

/// A weak compare-and-swap may fail for no reason, and what the program does then is explored.
#[test]
fn failures_for_no_reason_are_explored() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("weak", "weak");
    for program in ["add", "push", "locked", "strong"] {
        answers(&explore(&folder, &["./weak", program]), 0, ": robust, ");
    }
    for program in ["once", "counting"] {
        let explored = explore(&folder, &["./weak", program]);
        answers(&explored, 1, "error: data race ");
    }
    let telling = explore(&folder, &["./weak", "telling"]);
    answers(&telling, 3, "could fail for no reason once more");
}
