//! The corpus `litmus/`: every program has a row in `corpus.toml`, and every engine that can take the program
//! gives the verdicts of its row.
//!
//! Programs of `size = "large"` are verified as far as they fit into some memory, and completely with `RSAN_EXTENDED=1`.

mod common;

use common::{assert_none, check_all, extended, files, has_sc_accesses, is_loop_free, read};
use rsan_axioms::Error::TooLarge;
use rsan_axioms::{Limits, outcomes, robustness};
use rsan_crosscheck::{MODELS, compare};
use rsan_model::{Model, Program, Reason, Verdict};
use rsan_verify::{Error, Options, Property, verify};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// `litmus/corpus.toml`; its fields are explained in `litmus/README.md`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    program: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    file: String,
    about: String,
    robust: BTreeMap<String, Expected>,
    observational: BTreeMap<String, Expected>,
    safe: Expected,
    #[serde(default)]
    litmus: BTreeMap<String, Observation>,
    size: Size,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Yes,
    No,
    Refused,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
enum Observation {
    Never,
    Sometimes,
    Always,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus")
}

fn manifest() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("corpus.toml")).expect("the manifest");
    let manifest: Manifest = toml::from_str(&text).unwrap_or_else(|e| panic!("corpus.toml: {e}"));
    manifest.program
}

fn program(row: &Row) -> Program {
    read(&root().join(&row.file)).0
}

#[test]
fn files_and_rows_correspond() {
    let rows = manifest();
    let named: BTreeSet<String> = rows.iter().map(|row| row.file.clone()).collect();
    assert_eq!(named.len(), rows.len(), "a file has two rows");
    let there: BTreeSet<String> = files(&root())
        .iter()
        .map(|path| {
            let path = path.strip_prefix(root()).expect("below the root");
            path.to_string_lossy().replace('\\', "/")
        })
        .collect();
    let without_row: Vec<_> = there.difference(&named).collect();
    let without_file: Vec<_> = named.difference(&there).collect();
    assert!(without_row.is_empty(), "no row for {without_row:?}");
    assert!(without_file.is_empty(), "no file for {without_file:?}");
    assert!(rows.len() >= 120, "only {} programs", rows.len());
}

#[test]
fn every_row_is_complete() {
    let models: Vec<String> = MODELS.iter().map(|m| m.name().to_owned()).collect();
    for row in manifest() {
        let file = &row.file;
        for verdicts in [&row.robust, &row.observational] {
            let has: BTreeSet<&String> = verdicts.keys().collect();
            assert_eq!(has, models.iter().collect(), "{file}");
        }
        for name in row.litmus.keys() {
            assert!(name.parse::<Model>().is_ok(), "{file}: {name}");
        }
        assert!(
            !row.about.is_empty() && row.safe != Expected::Refused,
            "{file}"
        );
        let has_condition = program(&row).condition.is_some();
        assert_eq!(
            has_condition,
            !row.litmus.is_empty(),
            "{file}: condition and `litmus`"
        );
    }
}

/// Memory for states that a large program may take, unless the run is an extended one.
const LARGE_LIMIT: u64 = 8 << 20;

/// The answer of the search; `None` when a large program does not fit.
fn verdict(
    program: &Program,
    model: Model,
    property: Property,
    memory_limit: Option<u64>,
) -> Result<Option<Expected>, String> {
    let options = Options {
        property,
        memory_limit,
        workers: 1,
        ..Options::new(model)
    };
    match verify(program, &options, &mut |_| {}) {
        Ok(outcome) => match outcome.verdict {
            Verdict::Robust => Ok(Some(Expected::Yes)),
            Verdict::Violation(_) => Ok(Some(Expected::No)),
            Verdict::Unknown(Reason::MemoryLimit) => Ok(None),
            Verdict::Unknown(reason) => Err(reason.to_string()),
        },
        Err(Error::ScAccess { .. }) => Ok(Some(Expected::Refused)),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn the_search_gives_the_verdicts_of_the_rows() {
    let wrong = check_all(&manifest(), |row| {
        let file = &row.file;
        let program = program(row);
        let limit = (row.size == Size::Large && !extended()).then_some(LARGE_LIMIT);
        let mut wrong = Vec::new();
        let mut check = |model: Model, property, expected: Expected| {
            let found = verdict(&program, model, property, limit);
            if found == Ok(None) {
                eprintln!("too large without RSAN_EXTENDED=1: {file} {model} {property}");
            } else if found != Ok(Some(expected)) {
                wrong.push(format!(
                    "{file} {model} {property}: {found:?}, not {expected:?}"
                ));
            }
        };
        for model in MODELS {
            let name = model.name();
            check(model, Property::Robust, row.robust[name]);
            check(model, Property::Observational, row.observational[name]);
        }
        check(Model::C20, Property::Safe, row.safe);
        wrong
    });
    assert_none(&wrong);
}

/// Graphs that the oracle builds of a program before it gives up.
const GRAPHS: Limits = Limits {
    unroll: 1,
    max_graphs: 20_000,
    max_events: rsan_model::MAX_EVENTS,
};

/// The same for programs with loops, whose graphs are large: a violation is mostly found soon, or not at all.
const GRAPHS_WITH_LOOPS: Limits = Limits {
    max_graphs: 600,
    ..GRAPHS
};

#[test]
fn the_oracle_and_the_monitors_give_the_verdicts_of_the_rows() {
    let rows: Vec<Row> = manifest();
    let wrong = check_all(&rows, |row| {
        let program = program(row);
        let known = |model: &&Model| !has_sc_accesses(&program) || model.has_sc_accesses();
        let models = MODELS.iter().filter(known);
        let wrong = models.map(|&model| {
            if is_loop_free(&program) {
                check_engines(row, &program, model)
            } else {
                check_unrolled(row, &program, model)
            }
        });
        wrong.flatten().collect()
    });
    assert_none(&wrong);
}

/// The oracle on a program with loops: what it finds in the first few iterations is a violation.
fn check_unrolled(row: &Row, program: &Program, model: Model) -> Vec<String> {
    let answer = match robustness(program, model, &GRAPHS_WITH_LOOPS) {
        Ok(answer) => answer,
        Err(TooLarge { .. }) => return Vec::new(),
        Err(error) => panic!("{} {model}: {error}", row.file),
    };
    let violation = !answer.robust || answer.racy || answer.assertion_failed;
    if violation && row.robust[model.name()] == Expected::Yes {
        return vec![format!("{} {model}: the oracle says {answer:?}", row.file)];
    }
    Vec::new()
}

/// All engines on a program without loops.
fn check_engines(row: &Row, program: &Program, model: Model) -> Vec<String> {
    let Some(answers) = compare(program, model, &GRAPHS) else {
        return Vec::new();
    };
    let file = &row.file;
    let contradictions = answers.contradictions().into_iter();
    let mut wrong: Vec<String> = contradictions
        .map(|what| format!("{file} {model}: {what} disagree"))
        .collect();
    let seen = answers.runs.seen[0];
    if seen.any() != (row.robust[model.name()] == Expected::No) {
        wrong.push(format!("{file} {model}: the monitors say {seen:?}"));
    }
    let observed = answers.oracle.observational == Some(false);
    if observed && row.observational[model.name()] == Expected::Yes {
        wrong.push(format!(
            "{file} {model}: not observationally robust by definition"
        ));
    }
    wrong
}

#[test]
fn final_conditions_are_observed_as_the_rows_say() {
    let rows: Vec<Row> = manifest();
    let wrong = check_all(&rows, |row| {
        let program = program(row);
        let mut wrong = Vec::new();
        for (name, expected) in &row.litmus {
            let model: Model = name.parse().expect("a model");
            let outcomes = outcomes(&program, model, &Limits::default())
                .unwrap_or_else(|e| panic!("{} {model}: {e}", row.file));
            let condition = outcomes.condition.expect("a condition");
            let observed = match (condition.witnesses, condition.negative) {
                (0, _) => Observation::Never,
                (_, 0) => Observation::Always,
                _ => Observation::Sometimes,
            };
            if observed != *expected || outcomes.cut.is_some() {
                let cut = outcomes.cut;
                wrong.push(format!(
                    "{} {model}: {observed:?}, not {expected:?}; {cut:?}",
                    row.file
                ));
            }
        }
        wrong
    });
    assert_none(&wrong);
}
