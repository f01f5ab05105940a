//! The outputs of the tools are read right, and the programs compile and work; no peer is needed.

use super::outcome::{Outcome, number_after};
use super::report::{Column, Report, Row};
use super::{checkers, crates, miri, ours, programs, rust};
use crate::bench::measure::Cost;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

const COST: Cost = Cost {
    wall: 0.25,
    cpu: 0.125,
    memory: 8.0,
};

#[test]
fn every_program_has_a_row_and_every_row_a_program() {
    let cases = programs::cases(None).expect("the table of programs");
    let named: BTreeSet<_> = cases.iter().map(|case| case.program.clone()).collect();
    let folder = std::fs::read_dir(programs::folder()).expect("the folder of programs");
    let there: BTreeSet<_> = folder
        .map(|entry| entry.expect("an entry").file_name())
        .filter_map(|name| Some(name.to_str()?.strip_suffix(".c")?.to_owned()))
        .collect();
    assert_eq!(named, there);
    let only = programs::cases(Some("lock-3")).expect("the table of programs");
    let names: Vec<_> = only.iter().map(programs::Case::name).collect();
    assert_eq!(names, ["spin-lock-3", "ticket-lock-3", "seqlock-3"]);
}

/// A folder of this test's own.
fn work(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("rsan-peers-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn succeeds(command: &mut Command) {
    let output = command.output().expect("a command that runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

#[test]
fn c_programs_compile_without_warnings_and_work() {
    let work = work("c");
    for case in programs::cases(None).expect("the table of programs") {
        let file = case.write(&work).expect("a file");
        let executable = file.with_extension("");
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-O1", "-pthread", "-Wall", "-Wextra", "-Werror"]);
        succeeds(gcc.arg(&file).arg("-o").arg(&executable));
        succeeds(&mut Command::new(&executable));
    }
    std::fs::remove_dir_all(work).expect("the folder is removed");
}

/// The same with the standard library instead of a peer.
#[test]
fn rust_programs_compile_without_warnings_and_work() {
    let work = work("rust");
    let executable = work.join("programs");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "-Dwarnings", "-o"]);
    let source = programs::folder().join("main.rs");
    succeeds(rustc.arg(&executable).arg(source));
    let mut cases = programs::cases(None).expect("the table of programs");
    // The others fail when the machine likes.
    let fixed = rust::TESTS.iter().map(|test| programs::Case {
        program: format!("{test}-fixed"),
        threads: 2,
        weak: false,
    });
    cases.extend(fixed);
    for case in cases {
        let mut program = Command::new(&executable);
        program.args([&case.program, &case.threads.to_string()]);
        let output = program.args(["once", "0", "0"]).output().expect("a run");
        let text = String::from_utf8_lossy(&output.stdout);
        let outcome = crates::read(&text, COST);
        let name = case.name();
        assert_eq!(outcome.executions, Some(1), "{name}: {text}");
        assert_eq!(outcome.error, None, "{name}");
    }
    std::fs::remove_dir_all(work).expect("the folder is removed");
}

#[test]
fn the_line_of_a_rust_program_is_read() {
    let line = r#"{"executions":8,"cut":2,"complete":false,"seconds":0.5,"error":null}"#;
    let outcome = crates::read(&format!("noise\n{line}\n"), COST);
    assert_eq!(outcome.count(), "> 8 + 2");
    assert_eq!(outcome.rate(), Some(80.0));
    let line =
        r#"{"executions":0,"cut":1,"complete":false,"seconds":0.5,"error":"assertion failed"}"#;
    let outcome = crates::read(line, COST);
    assert_eq!(outcome.count(), "failed");
    assert_eq!(outcome.error.as_deref(), Some("assertion failed"));
    assert_eq!(crates::read("", COST).count(), "no answer");
}

#[test]
fn miri_is_read() {
    let line = r#"{"executions":1,"cut":0,"complete":false,"seconds":0.5,"error":null}"#;
    let outcome = miri::read(&format!("{line}\n{line}\n"), "", COST);
    assert_eq!(rust::cell(&Ok(outcome)), "nothing; 2 runs, 0.12 s");
    let race = "warning: odd\nerror: Undefined Behavior: Data race detected\n";
    let outcome = miri::read(&format!("{line}\n"), race, COST);
    let expected = "*Undefined Behavior: Data race detected*; 2 runs, 0.12 s";
    assert_eq!(rust::cell(&Ok(outcome)), expected);
    assert_eq!(rust::cell(&Err("no Miri".to_owned())), "not there");
}

#[test]
fn checkers_are_read() {
    let text = "*** Verification complete.\nNo errors were detected.\nNumber of complete executions explored: 6\n\
        Number of blocked executions seen: 2\nTotal wall-clock time: 0.02s\n";
    let outcome = checkers::GENMC.read(text, COST);
    assert_eq!(outcome.count(), "6 + 2");
    assert_eq!(outcome.seconds, Some(0.02));
    let text = "Error: Safety violation!\nAssertion violation: x\nNumber of complete executions explored: 3\n";
    let outcome = checkers::GENMC.read(text, COST);
    assert_eq!(outcome.count(), "failed");
    assert_eq!(outcome.error.as_deref(), Some("Error: Safety violation!"));
    let text = "Trace count: 15\nAwait-blocked trace count: 1\nSleepset-blocked trace count: 2\nNo errors were detected.\n\
        Total wall-clock time: 0.01 s\n";
    assert_eq!(checkers::NIDHUGG.read(text, COST).count(), "15 + 3");
    assert_eq!(checkers::GENMC.read("killed", COST).count(), "no answer");
    assert_eq!(number_after("took 1.5.", "took"), Some(1.5));
}

const OURS: &str = r#"{"verdict":"robust","findings":[],"stats":{"runs":7,"failures":0,"seconds":0.5,
    "schedules":{"executions":7,"failures":[],
        "exploration":{"complete":true,"executions":6,"excess":1,"cut":0,"diverged":0}}}}"#;

#[test]
fn our_answers_are_read() {
    let outcome = ours::read(OURS, COST);
    assert_eq!(
        (outcome.count().as_str(), outcome.findings),
        ("6 + 1", Some(0))
    );
    assert_eq!(outcome.rate(), Some(56.0));
    let cut = OURS
        .replace("true", "false")
        .replace("\"cut\":0", "\"cut\":2");
    let cut = cut.replace(
        "\"findings\"",
        "\"notes\":[\"2 runs were cut off\"],\"findings\"",
    );
    let outcome = ours::read(&cut, COST);
    assert_eq!(outcome.count(), "> 6 + 3");
    assert_eq!(outcome.reason.as_deref(), Some("2 runs were cut off"));
    let sampled = r#"{"findings":[],"stats":{"runs":9,"failures":0,"seconds":3.0,"schedules":{"executions":6}}}"#;
    assert_eq!(ours::read(sampled, COST).rate(), Some(72.0));
    let failing = OURS.replace("\"failures\":0", "\"failures\":1");
    assert_eq!(ours::read(&failing, COST).count(), "failed");
    assert!(ours::read("no JSON", COST).error.is_some());
}

fn column(name: &'static str, present: bool, explores: bool) -> Column {
    let about = if present { "1.0" } else { "not installed" };
    Column {
        name,
        about: about.to_owned(),
        present,
        explores,
    }
}

#[test]
fn the_table_has_notes() {
    let ours = ours::read(OURS, COST);
    let mut failed = Outcome::new(COST);
    failed.error = Some("assertion failed".to_owned());
    let row = |program: &str, weak, peer: &Outcome| Row {
        program: program.to_owned(),
        weak,
        outcomes: vec![
            Some(ours.clone()),
            None,
            Some(peer.clone()),
            Some(ours.clone()),
        ],
    };
    let report = Report {
        columns: vec![
            column("rsan", true, true),
            column("absent", false, true),
            column("peer", true, true),
            column("fast", true, false),
        ],
        rows: vec![row("a-2", false, &ours), row("b-2", true, &failed)],
        planning: None,
    };
    let expected = "\
| program | rsan says | rsan | CPU s | peer | CPU s | fast: runs per CPU s |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
| a-2 | robust | 6 + 1 | 0.12 | 6 + 1 | 0.12 | 56 |
| b-2 | WRONG | 6 + 1 | 0.12 | failed | 0.12 | 56 |

- rsan: 1.0
- absent: not installed
- peer: 1.0
- fast: 1.0
- peer on b-2: assertion failed
";
    assert_eq!(report.to_string(), expected);
    assert!(report.json().contains("\"benchmark\": \"peers\""));
}
