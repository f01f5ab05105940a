//! `litmus/hardware`: every test has a row in `verdicts.toml`, and its machine's model agrees with the row.

mod common;

use rsan_axioms::Limits;
use rsan_axioms::machine::outcomes;
use rsan_model::Source;
use rsan_model::machine::{Machine, Program};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a machine says of a test's condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Allowed,
    Forbidden,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus/hardware")
}

/// The rows by folder and test.
fn table() -> BTreeMap<String, BTreeMap<String, Verdict>> {
    let text = std::fs::read_to_string(root().join("verdicts.toml")).expect("the table");
    toml::from_str(&text).unwrap_or_else(|e| panic!("verdicts.toml: {e}"))
}

/// The tests of all folders, with their rows.
fn tests() -> Vec<(String, Program, Verdict)> {
    let read = |folder: &str, name: &str| {
        let path = root().join(folder).join(format!("{name}.litmus"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let source = Source::new(name, text);
        let program = rsan_lang::parse_assembly(&source);
        program.unwrap_or_else(|d| panic!("{}", d.render(&source, false)))
    };
    let rows = table();
    let rows = rows.iter().flat_map(|(folder, rows)| {
        rows.iter()
            .map(move |(name, verdict)| (folder, name, *verdict))
    });
    rows.map(|(folder, name, verdict)| (format!("{folder}/{name}"), read(folder, name), verdict))
        .collect()
}

/// Whether the machine has an execution that ends as the condition says.
fn shows(program: &Program, machine: Machine) -> bool {
    let found = outcomes(program, machine, &Limits::default());
    let found = found.unwrap_or_else(|e| panic!("{}: {e}", program.name));
    assert_eq!(found.cut, None, "{}", program.name);
    found.condition.expect("a condition").witnesses > 0
}

#[test]
fn files_and_rows_correspond() {
    let named: BTreeSet<String> = table()
        .iter()
        .flat_map(|(folder, rows)| {
            rows.keys()
                .map(move |name| format!("{folder}/{name}.litmus"))
        })
        .collect();
    let there: BTreeSet<String> = common::files(&root())
        .iter()
        .map(|path| {
            let path = path.strip_prefix(root()).expect("below the root");
            path.to_string_lossy().replace('\\', "/")
        })
        .collect();
    assert_eq!(named, there);
    assert!(named.len() >= 150, "only {} tests", named.len());
}

#[test]
fn a_test_has_the_name_of_its_file() {
    for (name, program, _) in tests() {
        assert!(name.ends_with(&format!("/{}", program.name)), "{name}");
    }
}

#[test]
fn the_machine_of_each_test_agrees_with_its_row() {
    for (name, program, verdict) in tests() {
        let found = if shows(&program, program.machine) {
            Verdict::Allowed
        } else {
            Verdict::Forbidden
        };
        assert_eq!(found, verdict, "{name}");
    }
}

#[test]
fn interleavings_show_none_of_the_weak_behaviours() {
    // An increment in two instructions may be lost without weak memory, too.
    for (name, program, _) in tests().iter().filter(|(name, ..)| name != "x86/inc") {
        assert!(!shows(program, Machine::Sc), "{name}");
    }
}
