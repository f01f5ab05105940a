//! Every execution of the translations, explored by `rsan run --exhaustive`: the verdict is the verifier's, and there are as
//! many executions as the oracle counts. Waits are calls that say so, or loops of which rsan has to find out.
//!
//! A quarter of the programs without loops other than waits; with `RSAN_EXTENDED=1` all of them.

use crate::corpus::{self, Entry, check_all, extended};
use crate::{has_loops, workshop};
use rsan_axioms::Limits;
use rsan_crosscheck::Shape;
use rsan_lang::emit::{self, Options};
use rsan_model::{CasStrength, Instr, Program};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const ANNOTATED: Options = Options {
    scheduled: false,
    annotated: true,
};
const LOOPS: Options = Options {
    scheduled: false,
    annotated: false,
};

/// Whether only the schedule decides what happens: here compare-and-swaps do not fail without a reason.
fn is_deterministic(program: &Program) -> bool {
    program.instructions().all(|(_, _, instr)| match instr {
        Instr::Choose(_) => false,
        Instr::Cas { strength, .. } => *strength == CasStrength::Strong,
        _ => true,
    })
}

/// Whether every step of the program is one step of its translation: no race, so that plain accesses need no order; and no
/// wait for a value that wraps around, which is a loop.
fn has_the_same_steps(entry: &Entry, document: &Value) -> bool {
    let findings = document["findings"].as_array();
    let races = findings.is_some_and(|all| all.iter().any(|f| f["kind"] == "data-race"));
    let text = emit::print(&entry.program, ANNOTATED);
    !races && text.is_ok_and(|text| !text.contains("while (wrap("))
}

/// The number of sequentially consistent execution graphs; `None` if they are too many to be counted.
fn counted(program: &Program) -> Option<u64> {
    let limits = Limits {
        max_graphs: 2_000,
        ..Limits::default()
    };
    let shapes = Shape::all(program, &limits)?;
    Some(shapes.len() as u64)
}

/// What `rsan run --exhaustive` says of a program.
fn explored(program: &Path) -> Result<Value, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rsan"));
    command
        .args(["run", "--exhaustive", "--format", "json", "--jobs", "1"])
        .arg("--out")
        .arg(program.with_extension("out"))
        .arg("--")
        .arg(program)
        .env_remove("RSAN_OPTIONS");
    if let Some(folder) = program.parent() {
        command.env("XDG_CACHE_HOME", folder.with_file_name("cache"));
    }
    let output = command.output().expect("rsan starts");
    serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The verdict as the verifier means it: threads that wait for ever are no violation, failed assertions are.
fn is_robust(document: &Value) -> Option<bool> {
    let findings = document["findings"].as_array()?;
    let complete = document["stats"]["schedules"]["exploration"]["complete"].as_bool()?;
    let failed = document["stats"]["failures"].as_u64()? > 0;
    match findings.iter().all(|finding| finding["kind"] == "deadlock") {
        true if complete => Some(true),
        true if !failed => None,
        _ => Some(false),
    }
}

/// Whether threads wait for ever.
fn deadlocks(document: &Value) -> bool {
    let findings = document["findings"].as_array();
    findings.is_some_and(|all| all.iter().any(|f| f["kind"] == "deadlock"))
}

/// What is to be compared with the verifier and the oracle.
struct Expected {
    robust: Option<bool>,
    executions: Option<u64>,
}

impl Expected {
    /// What is wrong with an answer.
    fn compare(&self, file: &str, document: &Value) -> Vec<String> {
        let exploration = &document["stats"]["schedules"]["exploration"];
        let explored = &exploration["executions"];
        let mut wrong = Vec::new();
        if self.robust.is_some() && is_robust(document) != self.robust {
            let (found, reason) = (&document["verdict"], &document["notes"]);
            wrong.push(format!("{file}: {found}, {reason}"));
        }
        if let Some(executions) = self.executions
            && *explored != executions
        {
            wrong.push(format!("{file}: {explored} of {executions}"));
        }
        wrong
    }
}

/// Runs and figures of a form.
#[derive(Default)]
struct Figures {
    executions: AtomicU64,
    excess: AtomicU64,
    compared: AtomicUsize,
}

#[test]
fn all_executions_have_the_verdict_of_the_verifier_and_the_number_of_the_oracle() {
    let Some(workshop) = workshop("exhaustive") else {
        return;
    };
    let suitable = |entry: &Entry| is_deterministic(&entry.program) && !has_loops(&entry.program);
    let entries = corpus::entries().into_iter().filter(suitable);
    let share = if extended() { 1 } else { 4 };
    let entries: Vec<_> = entries.step_by(share).collect();
    for (form, name) in [(ANNOTATED, "waits"), (LOOPS, "loops")] {
        let figures = Figures::default();
        let (wrong, _) = check_all(&entries, |entry| {
            let built = workshop.build(&format!("{}-{name}", entry.name), &entry.program, form);
            let document = match built.and_then(|built| explored(built.path())) {
                Ok(document) => document,
                Err(message) => return (vec![format!("{}: {message}", entry.file)], 0),
            };
            let exploration = &document["stats"]["schedules"]["exploration"];
            let complete = exploration["complete"] == true;
            let known = complete && has_the_same_steps(entry, &document);
            let expected = Expected {
                // What a loop reads for ever is read, unlike what a wait waits for.
                robust: (form == ANNOTATED || !deadlocks(&document)).then_some(entry.robust),
                executions: known.then(|| counted(&entry.program)).flatten(),
            };
            let number = |name: &str| exploration[name].as_u64().unwrap_or_default();
            let compared = usize::from(expected.executions.is_some());
            figures.compared.fetch_add(compared, Ordering::Relaxed);
            figures
                .excess
                .fetch_add(number("excess"), Ordering::Relaxed);
            let executions = number("executions");
            figures.executions.fetch_add(executions, Ordering::Relaxed);
            (expected.compare(&entry.file, &document), 1)
        });
        let (all, excess) = (figures.executions.into_inner(), figures.excess.into_inner());
        let compared = figures.compared.into_inner();
        println!(
            "{name}: {} programs, {all} executions, {excess} runs in excess; of {compared} the number is known",
            entries.len()
        );
        assert!(compared * 2 > entries.len());
        corpus::assert_none(&wrong);
    }
}
