//! The benchmark in small: it cannot rot, and its programs are false-alarm tests.

use super::build::{self, Linked, Toolchain};
use super::{Size, execute, programs};
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
