//! The programs and their verdicts.

use rsan_crosscheck::on_all_cores;
use rsan_lang::{Format, parse};
use rsan_model::{LocId, Observable, Program, RegId, Source, ThreadId};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
struct Manifest {
    program: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    file: String,
    robust: BTreeMap<String, String>,
}

/// A program of the corpus.
pub(crate) struct Entry {
    /// Its path below `litmus/`.
    pub(crate) file: String,
    /// The same as a name of a file.
    pub(crate) name: String,
    pub(crate) program: Program,
    /// Whether it is robust against C++20.
    pub(crate) robust: bool,
    /// The same for RC20; `None` if it has seq_cst accesses, which RC20 has not.
    pub(crate) robust_rc20: Option<bool>,
}

/// The corpus.
pub(crate) fn entries() -> Vec<Entry> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let text = std::fs::read_to_string(root.join("corpus.toml")).expect("the manifest");
    let manifest: Manifest = toml::from_str(&text).unwrap_or_else(|e| panic!("corpus.toml: {e}"));
    let entry = |row: Row| {
        let text = std::fs::read_to_string(root.join(&row.file)).expect("a program of the corpus");
        let source = Source::new(row.file.as_str(), text);
        let format = Format::detect(&row.file, &source.text).expect("a known language");
        let program =
            parse(&source, format).unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
        Entry {
            name: row.file.replace(['/', '.'], "-"),
            program,
            robust: row.robust["c20"] == "yes",
            robust_rc20: match row.robust["rc20"].as_str() {
                "refused" => None,
                verdict => Some(verdict == "yes"),
            },
            file: row.file,
        }
    };
    manifest.program.into_iter().map(entry).collect()
}

/// The program, to print the final values of all its registers.
pub(crate) fn with_everything_observed(program: &Program) -> Program {
    let mut program = program.clone();
    for (t, thread) in program.threads.iter().enumerate() {
        let registers = 0..thread.registers.len();
        let observed = registers.map(|r| Observable::Reg(ThreadId::new(t), RegId::new(r)));
        program.observed.extend(observed);
    }
    let locations = (0..program.locations.len()).map(|l| Observable::Loc(LocId::new(l)));
    program.observed.extend(locations);
    program
}

/// Whether the run may take minutes.
pub(crate) fn extended() -> bool {
    std::env::var_os("RSAN_EXTENDED").is_some_and(|v| v == "1")
}

/// What `check` finds wrong with the items, in their order, and the sum of what it counts; on all cores.
pub(crate) fn check_all<T: Sync>(
    items: &[T],
    check: impl Fn(&T) -> (Vec<String>, usize) + Sync,
) -> (Vec<String>, usize) {
    let mut found = (Vec::new(), 0);
    for (wrong, counted) in on_all_cores(items, check) {
        found.0.extend(wrong);
        found.1 += counted;
    }
    found
}

/// Fails with all that was found wrong.
pub(crate) fn assert_none(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
