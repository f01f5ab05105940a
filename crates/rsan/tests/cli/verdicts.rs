//! A verdict says what was shown, and no more: the same in text, in documents and by the exit status.

use crate::common::{Run, rsan, run, scratch};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use std::path::Path;
use std::process::Command;

/// The field `verdict` of a document, and the exit status.
fn verdict(done: &Run) -> (String, i32) {
    let document: serde_json::Value = serde_json::from_str(&done.stdout).expect("one document");
    let verdict = document["verdict"].as_str().expect("a verdict");
    (verdict.to_owned(), done.code)
}

fn says(done: &Run, part: &str) {
    let (stdout, stderr) = (&done.stdout, &done.stderr);
    assert!(stdout.contains(part), "no {part:?} in {stdout}{stderr}");
}

/// Checks a program of `tests/data` in a folder of the test's own.
fn check(test: &str, options: &str, source: &str) -> Run {
    let folder = scratch(&format!("verdicts-{test}"));
    let source = data(source);
    let mut words = vec!["check"];
    words.extend(options.split_whitespace());
    words.push(&source);
    run_in(&folder, &words)
}

#[test]
fn verdicts_of_programs_that_are_read() {
    for (line, expected) in [
        ("verify sb-fenced.litmus", ("robust", 0)),
        ("verify sb.litmus", ("violation", 1)),
        ("verify --memory-limit 1 sb-fenced.litmus", ("unknown", 3)),
        ("verify --property safe sb.litmus", ("no-finding", 0)),
        ("verify --model tso sb-fenced.litmus", ("robust", 0)),
        ("verify --model tso sb.litmus", ("violation", 1)),
        ("litmus sb.litmus", ("no-finding", 0)),
        ("litmus loop.litmus", ("unknown", 3)),
        ("fence sb.litmus", ("robust", 0)),
        ("fence --model tso sb.litmus", ("robust", 0)),
        ("fence assert.tpl", ("violation", 1)),
    ] {
        let mut words: Vec<_> = line.split(' ').collect();
        words.extend(["--format", "json"]);
        let done = run(&words);
        let (verdict, code) = verdict(&done);
        assert_eq!((verdict.as_str(), code), expected, "{line}");
    }
}

#[test]
fn runs_are_no_proof_and_all_executions_are() {
    if gcc_is_missing() {
        return;
    }
    let source = "scheduled/faults.c";
    for (options, expected, text) in [
        ("--runs 2", "no-finding", ": no finding in 2 runs\n"),
        (
            "--sched random --runs 2",
            "no-finding",
            ": no finding in 2 runs\n",
        ),
        ("--exhaustive", "robust", ": robust, no finding in 3 runs\n"),
        (
            "--exhaustive --max-executions 1",
            "unknown",
            ": undecided, no finding in 1 run; ",
        ),
    ] {
        says(&check("runs", options, source), text);
        let (verdict, code) = verdict(&check("runs", &format!("{options} --format json"), source));
        let status = if expected == "unknown" { 3 } else { 0 };
        assert_eq!((verdict.as_str(), code), (expected, status), "{options}");
    }
    let failed = check("runs", "--runs 1 --format json", "fails.c");
    assert_eq!(verdict(&failed), ("unknown".to_owned(), 4));
}

#[test]
fn what_is_suppressed_was_found() {
    if gcc_is_missing() {
        return;
    }
    let file = scratch("verdicts-known");
    std::fs::write(&file, "robustness:*\n").expect("the scratch folder is writable");
    let options = format!("--exhaustive --suppressions {file}");
    let done = check("suppressed", &options, "scheduled/sb.c");
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    says(&done, "sb.c: no finding in 3 runs; 2 findings suppressed\n");
    says(&done, "\nexplored: all 3 executions\n");
    let options = format!("{options} --format json");
    let done = check("suppressed", &options, "scheduled/sb.c");
    assert_eq!(verdict(&done), ("no-finding".to_owned(), 0));
}

/// Optimisation removes reads whose value is not used. Both compilers keep them without it.
#[test]
fn every_access_of_the_source_is_checked() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("verdicts-source");
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    for compiler in ["gcc", "clang"] {
        if Command::new(compiler).arg("--version").output().is_err() {
            continue;
        }
        let check = |options: &[&str]| -> Run {
            let mut command = rsan(Path::new(&folder));
            command.env("RSAN_CC", compiler).arg("check").args(options);
            let output = command.arg(data("dead_read.c")).output();
            output.expect("rsan starts").into()
        };
        let race = check(&["--exhaustive"]);
        assert_eq!(race.code, 1, "{compiler}: {}{}", race.stdout, race.stderr);
        says(&race, "error: data race on ");
        says(&race, "dead_read.c:16");
        let optimised = check(&["--exhaustive", "-O1"]);
        let text = ": no finding in 2 runs; no proof of the source: the compiler may have removed accesses\n";
        says(&optimised, text);
        let document = check(&["--exhaustive", "-O1", "--format", "json"]);
        assert_eq!(verdict(&document), ("no-finding".to_owned(), 0));
    }
    assert_eq!(check("source", "-O7", "dead_read.c").code, 2);
}

/// As without optimisation, whatever the level that a build asks for.
#[test]
fn what_is_written_is_checked() {
    for compiler in ["gcc", "clang"] {
        let version = Command::new(compiler).arg("--version").output();
        if !version.is_ok_and(|output| output.status.success()) {
            continue;
        }
        let folder = scratch(&format!("verdicts-written-{compiler}"));
        let source = data("removed.c");
        let chosen = format!("--rsan-compiler={compiler}");
        let written = ["cc", &chosen, "--rsan-as-written", "-O2", "-pthread"];
        compile(
            &folder,
            &[&written[..], &["-o", "removed", &source]].concat(),
        );
        for case in ["0", "1", "2", "3", "4", "5", "6"] {
            let found = run_in(&folder, &["run", "--exhaustive", "--", "./removed", case]);
            let lines = found.stdout.lines();
            let races = lines
                .filter(|line| line.starts_with("error: data race on "))
                .count();
            assert!(
                races > 0,
                "{compiler}, case {case}: {}{}",
                found.stdout,
                found.stderr
            );
        }
    }
}

/// The program of a replay is the one that was checked.
#[test]
fn a_replay_names_the_level_of_optimisation() {
    if gcc_is_missing() {
        return;
    }
    let done = check("level", "--exhaustive -O2 -v", "scheduled/sb.c");
    says(
        &done,
        "Replay: rsan check --replay rsan-out/violation-1.sched -O2 ",
    );
    assert!(!done.stdout.contains("no proof"), "{}", done.stdout);
    let again = "--replay rsan-out/violation-1.sched -O2";
    says(&check("level", again, "scheduled/sb.c"), "; reproduced\n");
}

#[test]
fn every_command_has_the_same_default_model() {
    let automata = "../../../../automata/peterson.txt";
    for command in ["verify", "check", "fence"] {
        let c20 = run(&[command, "--format", "json", "mp.litmus"]);
        says(&c20, "\"model\": \"c20\"");
        let tso = run(&[command, "--format", "json", automata]);
        says(&tso, "\"model\": \"tso\"");
        let refused = run(&[command, "--model", "c20", automata]);
        assert_eq!(refused.code, 2);
        let message = "automata have no memory orders";
        assert!(refused.stderr.contains(message), "{}", refused.stderr);
    }
    says(
        &run(&["litmus", "--format", "json", "mp.litmus"]),
        "\"model\": \"c20\"",
    );
}
