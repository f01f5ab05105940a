//! Every weak execution of the translations, explored by `rsan explore --exhaustive`: what they print are the final states that the oracle
//! finds under C++20.
//!
//! A quarter of the programs whose only loops are waits; with `RSAN_EXTENDED=1` all of them.

use crate::corpus::{self, Entry, check_all, extended};
use crate::{has_loops, workshop};
use rsan_lang::emit::Options;
use rsan_model::Instr;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const LOOPS: Options = Options {
    scheduled: false,
    annotated: false,
};

/// By program: its final states in the fragment that is executed, as the oracle has it, and those that are not shown.
const FRAGMENT: &str = include_str!("../../../rsan-crosscheck/tests/weak-fragment.txt");

/// Whether a program has final states that need an execution outside of what is run: load buffering, or an order of seq_cst events against
/// `po U rf`.
fn is_outside(file: &str) -> bool {
    let mut rows = FRAGMENT.lines().filter_map(|line| line.split_once(": "));
    rows.any(|(name, what)| name == file && what.contains("not shown"))
}

/// The values of what is observed, by name.
type State = BTreeMap<String, i64>;

/// What rsan says.
fn rsan(words: &[&str], cache: &Path) -> Result<Value, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rsan"));
    command.args(words);
    command.env("XDG_CACHE_HOME", cache);
    command.env_remove("RSAN_OPTIONS");
    let output = command.output().expect("rsan starts");
    serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The final states of a program, and what is observed.
type Expected = (BTreeSet<State>, Vec<String>);

/// The final states by the oracle; `None` if it does not know all of them, or the program has no meaning.
fn expected(entry: &Entry, cache: &Path) -> Result<Option<Expected>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let file = root.join(&entry.file).display().to_string();
    let answer = rsan(
        &["litmus", "--model", "c20", "--format", "json", &file],
        cache,
    )?;
    let litmus = &answer["litmus"];
    let known = litmus["cut_at"].is_null() && litmus["data_race"] == false;
    let clean = answer["findings"].as_array().is_some_and(Vec::is_empty);
    let (Some(states), Some(observed)) =
        (litmus["states"].as_array(), litmus["observed"].as_array())
    else {
        return Ok(None);
    };
    if !known || !clean {
        return Ok(None);
    }
    let names = observed.iter().filter_map(Value::as_str);
    let state = |state: &Value| serde_json::from_value(state["values"].clone()).ok();
    let states = states.iter().filter_map(state).collect();
    Ok(Some((states, names.map(ToOwned::to_owned).collect())))
}

/// The state that a run printed, as far as it is observed.
fn printed(output: &str, observed: &[String]) -> State {
    let values = output.lines().filter_map(|line| line.split_once('='));
    let values = values.filter(|(name, _)| observed.iter().any(|known| known == name));
    let value = |(name, value): (&str, &str)| Some((name.to_owned(), value.trim().parse().ok()?));
    values.filter_map(value).collect()
}

/// What is wrong with a program; the number of final states that were compared.
fn differences(
    entry: &Entry,
    program: &Path,
    cache: &Path,
) -> Result<(Vec<String>, usize), String> {
    let Some((expected, observed)) = expected(entry, cache)? else {
        return Ok((Vec::new(), 0));
    };
    let document = explored(program, &[], cache)?;
    let exploration = &document["stats"]["schedules"]["exploration"];
    if exploration["complete"] != true {
        return Ok((vec![format!("{}: {}", entry.file, document["notes"])], 0));
    }
    let outcomes = exploration["outcomes"].as_array();
    let ended = outcomes
        .into_iter()
        .flatten()
        .filter(|o| o["end"].is_null());
    let outputs = ended.filter_map(|outcome| outcome["output"].as_str());
    let found: BTreeSet<State> = outputs.map(|output| printed(output, &observed)).collect();
    // Translations do not print every register that the oracle shows.
    let is_printed = |name: &String| found.iter().all(|state| state.contains_key(name));
    let shown = |mut state: State| {
        state.retain(|name, _| is_printed(name));
        state
    };
    let expected: BTreeSet<State> = expected.into_iter().map(shown).collect();
    let missing: Vec<_> = expected.difference(&found).collect();
    let wrong: Vec<_> = found.difference(&expected).collect();
    let mut all = Vec::new();
    if !wrong.is_empty() {
        all.push(format!("{}: not allowed: {wrong:?}", entry.file));
    }
    match (missing.is_empty(), is_outside(&entry.file)) {
        (false, false) => all.push(format!("{}: missing: {missing:?}", entry.file)),
        (true, true) => all.push(format!("{}: all states were reached", entry.file)),
        _ => {}
    }
    Ok((all, expected.len()))
}

#[test]
fn all_weak_executions_come_to_what_the_oracle_allows() {
    let Some(workshop) = workshop("weak") else {
        return;
    };
    // A run that an assertion ends is no whole execution.
    let chooses_or_fails = |entry: &Entry| {
        let mut all = entry.program.instructions();
        all.any(|(_, _, instr)| matches!(instr, Instr::Choose(_) | Instr::Assert { .. }))
    };
    let suitable = |entry: &Entry| !has_loops(&entry.program) && !chooses_or_fails(entry);
    let share = if extended() { 1 } else { 4 };
    let entries = corpus::entries().into_iter().filter(suitable);
    let entries: Vec<_> = entries.step_by(share).collect();
    let cache = workshop.folder().with_file_name("cache");
    let (wrong, states) = check_all(&entries, |entry| {
        let built = workshop.build(&entry.name, &entry.program, LOOPS);
        let found = built.and_then(|built| differences(entry, built.path(), &cache));
        found.unwrap_or_else(|message| (vec![format!("{}: {message}", entry.file)], 0))
    });
    println!("{} programs, {states} final states", entries.len());
    corpus::assert_none(&wrong);
    assert!(states > entries.len(), "{states} of {}", entries.len());
}

/// What an exploration of a program says, with more options.
fn explored(program: &Path, more: &[&str], cache: &Path) -> Result<Value, String> {
    let (name, out) = (program.display().to_string(), program.with_extension("out"));
    let out = out.display().to_string();
    let explore = ["explore", "--exhaustive", "--format", "json", "--jobs", "1"];
    let words = [&explore[..], more, &["--out", &out, "--", &name]].concat();
    rsan(&words, cache)
}

#[test]
fn weak_explorations_are_gone_on_with() {
    let Some(workshop) = workshop("weak-resumed") else {
        return;
    };
    let cache = workshop.folder().with_file_name("cache");
    let mut entries = corpus::entries().into_iter();
    let entry = entries.find(|entry| entry.file == "basic/iriw-ra.litmus");
    let entry = entry.expect("a program of the corpus");
    let built = workshop.build(&entry.name, &entry.program, LOOPS);
    let built = built.expect("it can be compiled");
    let whole = explored(built.path(), &[], &cache).expect("an answer");
    let file = built.path().with_extension("checkpoint");
    let _ = std::fs::remove_file(&file);
    let file = file.display().to_string();
    let counts = |document: &Value| {
        let exploration = document["stats"]["schedules"]["exploration"].clone();
        ["complete", "executions", "excess", "outcomes"].map(|name| exploration[name].clone())
    };
    let resumed = |runs: &str| {
        let more = ["--checkpoint", &file, "--max-executions", runs];
        explored(built.path(), &more, &cache).expect("an answer")
    };
    assert_eq!(counts(&resumed("5"))[0], false);
    assert_eq!(counts(&resumed("9"))[0], false);
    assert_eq!(counts(&resumed("1000")), counts(&whole));
    assert_eq!(counts(&whole)[0], true);
    assert_eq!(counts(&whole)[1], 16);
}
