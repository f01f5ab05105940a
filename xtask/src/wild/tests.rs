//! What can be checked without the network: the table, our own files, and how findings are judged.

use super::judge;
use super::manifest::{self, Case, Verdict};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn names_are_unique_and_every_program_has_sources_and_runs() {
    let manifest = manifest::read().unwrap();
    let mut names = std::collections::BTreeSet::new();
    for case in &manifest.case {
        assert!(names.insert(&case.name), "{} twice", case.name);
        assert!(
            !case.debian.is_empty() || !case.crates.is_empty(),
            "{}",
            case.name
        );
        assert!(!case.run.is_empty(), "{}", case.name);
        let mut runs = std::collections::BTreeSet::new();
        for run in &case.run {
            assert!(runs.insert(&run.name), "{}/{} twice", case.name, run.name);
        }
        assert!(
            case.known
                .iter()
                .all(|known| !known.functions.is_empty() && !known.why.is_empty())
        );
    }
    assert!(manifest.selected(&["no such program".to_owned()]).is_err());
}

#[test]
fn each_of_our_files_is_used_by_a_program() {
    let table = std::fs::read_to_string(manifest::folder().join("cases.toml")).unwrap();
    for file in files() {
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(
            name == "cases.toml" || table.contains(&format!("$WILD/{name}")),
            "{name}"
        );
    }
}

#[test]
fn our_headers_and_scripts_are_well_formed() {
    let scratch = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/wild/stubs");
    for file in files() {
        let mut command = match file.extension().and_then(|text| text.to_str()) {
            Some("py") => {
                let mut python = Command::new("python3");
                python.args(["-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"]);
                python
            }
            Some("h") => {
                let mut compiler = Command::new("gcc");
                compiler.args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]);
                compiler.arg("-I").arg(&scratch);
                compiler
            }
            _ => continue,
        };
        let output = command.arg(&file).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", file.display());
    }
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(manifest::folder()).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A program with one group of findings that are judged.
fn case(known: &str) -> Case {
    let text = format!(
        "name = ''\nwhat = ''\nbuild = ''\nrun = []\nprimitives = ['std::']\nknown = [{{ {known}, why = 'because' }}]"
    );
    toml::from_str(&text).unwrap()
}

fn access(role: &str, functions: &[&str]) -> Value {
    let frame = |function| json!({ "function": function, "file": "dir/a.c", "line": 3 });
    let stack: Vec<Value> = functions.iter().map(frame).collect();
    json!({ "role": role, "operation": "load", "order": "relaxed", "stack": stack })
}

fn finding(kind: &str, accesses: &[Value]) -> Value {
    json!({ "kind": kind, "accesses": accesses })
}

#[test]
fn findings_are_judged_by_kind_and_function() {
    let case = case("kind = 'data-race', functions = ['inner'], verdict = 'formal'");
    let document = json!({ "findings": [
        finding("data-race", &[access("access", &["inner"]), access("earlier", &["outer"])]),
        finding("data-race", &[access("access", &["outer"]), access("earlier", &["ns::inner(int)"])]),
        finding("data-race", &[access("access", &["outer", "inner"])]),
        finding("weak-behaviour", &[access("access", &["inner"])]),
    ] });
    let judged = judge::judge(&document, &case);
    assert_eq!(judged.of(Verdict::Formal), 2);
    assert_eq!(judged.of(Verdict::Bug), 0);
    assert_eq!(judged.count(), 4);
    assert_eq!(
        judged.unknown,
        [
            "data-race; access: load relaxed (outer a.c:3 < inner a.c:3)",
            "weak-behaviour; access: load relaxed (inner a.c:3)"
        ]
    );
}

#[test]
fn primitives_are_looked_through_and_missed_writes_do_not_count() {
    let case = case("functions = ['pop'], verdict = 'benign'");
    let document = json!({ "findings": [
        finding("weak-behaviour", &[access("access", &["std::atomic<int>::load", "pop", "main"])]),
        finding("weak-behaviour", &[access("access", &["push"]), access("missed", &["pop"])]),
    ] });
    let judged = judge::judge(&document, &case);
    assert_eq!(judged.of(Verdict::Benign), 1);
    assert_eq!(judged.unknown.len(), 1);
}

#[test]
fn accesses_of_one_function_can_be_told_apart_by_what_they_do() {
    let judged = |access_of_case: &str| {
        let known = format!("access = '{access_of_case}', functions = ['pop'], verdict = 'bug'");
        let document =
            json!({ "findings": [finding("weak-behaviour", &[access("access", &["pop"])])] });
        judge::judge(&document, &case(&known)).of(Verdict::Bug)
    };
    assert_eq!((judged("load relaxed"), judged("load acquire")), (1, 0));
}
