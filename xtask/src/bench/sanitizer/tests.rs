//! The benchmark in small: it cannot rot, and its programs are false-alarm tests.

use super::build::{self, Linked, Toolchain};
use super::report::Report;
use super::{Row, Size, execute, programs};
use crate::bench::measure::Cost;
use std::collections::BTreeSet;

#[test]
fn every_program_has_a_row_and_every_row_a_program() {
    let manifest = programs::manifest().expect("the table of programs");
    let rows = manifest.program.iter().chain(&manifest.flat);
    let named: BTreeSet<String> = rows
        .chain(&manifest.growth)
        .map(|program| program.file.clone())
        .collect();
    let folder = std::fs::read_dir(programs::folder()).expect("the folder of programs");
    let there: BTreeSet<String> = folder
        .map(|entry| entry.expect("an entry").file_name())
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.ends_with(".c"))
        .collect();
    assert_eq!(named, there);
    assert!(manifest.program.len() >= 30);
    let mut names = BTreeSet::new();
    for program in &manifest.program {
        assert!(
            names.insert(&program.name),
            "{} is there twice",
            program.name
        );
    }
}

/// Every program computes the same with and without our runtime, and those without weak behaviours and races have no
/// finding.
#[test]
fn programs_work_and_the_correct_ones_are_clean() {
    let runtime = build::runtime(false).expect("the runtime");
    let toolchain = Toolchain::new("gcc", &runtime).expect("gcc");
    let manifest = programs::manifest().expect("the table of programs");
    for program in &manifest.program {
        let executables = toolchain.executables(&program.file, false);
        let executables = executables.unwrap_or_else(|error| panic!("{error}"));
        let run = |linked| {
            let run = execute::once(&executables[&linked], program.arguments(Size::Quick));
            run.unwrap_or_else(|error| panic!("{error}"))
        };
        let (plain, rsan) = (run(Linked::Plain), run(Linked::Rsan));
        assert_eq!(plain.output, rsan.output, "{}", program.name);
        let findings = &rsan.findings;
        assert!(
            program.findings || findings.is_empty(),
            "{}: {findings:#?}",
            program.name
        );
    }
}

fn cost(figure: f64) -> Cost {
    Cost {
        wall: figure,
        cpu: figure,
        memory: figure,
    }
}

fn row(group: &str, tsan: Option<f64>, rsan: f64) -> Row {
    Row {
        compiler: "cc".to_owned(),
        group: group.to_owned(),
        program: "one".to_owned(),
        arguments: "2 1000".to_owned(),
        operations: Some(1e9),
        plain: cost(0.5),
        tsan: tsan.map(cost),
        tsan_reports: tsan.map(|_| 3),
        rsan: cost(rsan),
        findings: 1,
        findings_expected: false,
    }
}

#[test]
fn means_are_geometric_and_leave_out_what_has_no_peer() {
    let report = Report {
        rows: vec![
            row("a", Some(1.0), 2.0),
            row("a", Some(4.0), 2.0),
            row("b", None, 7.0),
            row("c", Some(1.0), 8.0),
        ],
        flat: vec![row("a", Some(2.0), 3.0)],
        growth: Vec::new(),
    };
    let text = report.to_string();
    let expected = [
        "| one | 0.500 | 1.000 | 2.000 | 2.00 | 1.000 | 2.000 | 2.00 | 1 | 2 | 2.00 | 3 | 1 FALSE? |\n",
        "| one | 0.500 |  | 7.000 |  |  | 7.000 |  |  | 7 |  |  | 1 FALSE? |\n",
        "| cc | a | 2 | 1.00 | 1.00 | 1.00 |\n| cc | c | 1 | 8.00 | 8.00 | 8.00 |\n| cc | all | 3 | 2.00 | 2.00 | 2.00 |\n",
        "| one | 1000000000 | 2.0 | 3.0 | 2 | 3 |\n",
    ];
    for part in expected {
        assert!(text.contains(part), "{part}{text}");
    }
    assert!(report.json().contains("\"benchmark\": \"sanitizer\""));
}
