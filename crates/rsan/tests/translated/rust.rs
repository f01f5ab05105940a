//! The corpus in Rust: what `rsan emit-rust` writes, many programs in one crate, built as `rsan check` builds a file of Rust.
//!
//! A part of the programs; with `RSAN_EXTENDED=1` all of them, and more schedules.

use crate::build::{Built, schedule};
use crate::corpus::{self, Entry, check_all, extended};
use crate::{
    LENGTH, SCHEDULED, alarms_of, annotated, compare, has_plain_memory, is_touchy, witness,
    workshop,
};
use rsan_crosscheck::{Blocking, End, Run, inevitable, schedules};
use rsan_lang::emit::Options;
use rsan_model::{CasStrength, Instr, Model, Program};

/// The programs of a quick run; all others of the corpus follow in the extended one.
const SHARE: usize = 6;

fn entries() -> Vec<Entry> {
    let share = if extended() { 1 } else { SHARE };
    corpus::entries().into_iter().step_by(share).collect()
}

/// The program as the runtime sees it: LLVM's instrumentation does not say whether a compare-and-swap is weak, so none fails without a
/// reason.
fn as_instrumented(program: &Program) -> Program {
    let mut program = program.clone();
    for instr in program
        .threads
        .iter_mut()
        .flat_map(|thread| &mut thread.code)
    {
        if let Instr::Cas { strength, .. } = instr {
            *strength = CasStrength::Strong;
        }
    }
    program
}

#[test]
fn scheduled_runs_of_rust_find_what_the_monitor_finds() {
    let Some(workshop) = workshop("rust-scheduled") else {
        return;
    };
    let random = if extended() { 10 } else { 2 };
    let entries = entries();
    let programs: Vec<_> = entries
        .iter()
        .map(|entry| corpus::with_everything_observed(&entry.program))
        .collect();
    let named = entries.iter().zip(&programs);
    let named: Vec<_> = named
        .map(|(entry, program)| (&*entry.name, program))
        .collect();
    let all = workshop.build_rust(&named, SCHEDULED);
    let seen: Vec<_> = programs.iter().map(as_instrumented).collect();
    let items: Vec<_> = entries.iter().zip(&seen).zip(&all).collect();
    let (wrong, runs) = check_all(&items, |((entry, program), built)| {
        let mut runs = schedules(program, Blocking::Loop, LENGTH, random);
        let witness = (!entry.robust)
            .then(|| witness(program, Model::C20))
            .flatten();
        if let Some(witness) = &witness {
            let run = Run::witnessed(program, Blocking::Loop, witness);
            let run = run.unwrap_or_else(|why| panic!("{}: no witness: {why}", entry.file));
            assert!(!run.findings.is_empty() || run.last.end() == Some(End::Failure));
            runs.push(run);
        }
        let differences = |run: &Run<'_>| {
            let what = compare::differences(program, run, &built.run_scheduled(run, "probes=0"));
            let steps = schedule(run);
            (!what.is_empty()).then(|| {
                format!(
                    "{} RSAN_SCHEDULE=\"{steps}\": {}",
                    entry.file,
                    what.join("; ")
                )
            })
        };
        (runs.iter().filter_map(differences).collect(), runs.len())
    });
    println!("{} programs, {runs} schedules", entries.len());
    corpus::assert_none(&wrong);
}

const ANNOTATED: Options = Options {
    scheduled: false,
    annotated: true,
};

/// Robust programs have no finding, and those in which every schedule shows something have one in their first run.
#[test]
fn free_runs_of_rust_are_clean_or_have_a_finding_at_once() {
    let Some(workshop) = workshop("rust-free") else {
        return;
    };
    let runs = if extended() { 10 } else { 2 };
    let (mut robust, mut inevitably) = (Vec::new(), Vec::new());
    for entry in entries() {
        if entry.robust && (annotated::is_annotated(&entry) || !is_touchy(&entry.program)) {
            robust.push(entry);
        } else if !entry.robust
            && !crate::has_loops(&entry.program)
            && !has_plain_memory(&entry.program)
            && inevitable(&entry.program, LENGTH, crate::BUDGET) == Some(true)
        {
            inevitably.push(entry);
        }
    }
    let built = |entries: &[Entry]| {
        let named = entries.iter().map(|entry| (&*entry.name, &entry.program));
        workshop.build_rust(&named.collect::<Vec<_>>(), ANNOTATED)
    };
    let all: Vec<(&Entry, Built)> = robust.iter().zip(built(&robust)).collect();
    let (false_alarms, _) = check_all(&all, |(entry, built)| (alarms_of(built, entry, runs), 0));
    let all: Vec<(&Entry, Built)> = inevitably.iter().zip(built(&inevitably)).collect();
    let (missed, _) = check_all(&all, |(entry, built)| {
        let missed = built.run().findings.is_empty();
        let message = missed.then(|| format!("{}: nothing found", entry.file));
        (message.into_iter().collect(), 0)
    });
    println!(
        "{} robust programs, {runs} runs each; {} with a finding in every schedule, 1 run each",
        robust.len(),
        inevitably.len()
    );
    assert!(!robust.is_empty() && !inevitably.is_empty());
    corpus::assert_none(&false_alarms);
    corpus::assert_none(&missed);
}
