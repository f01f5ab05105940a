//! The corpus `litmus/`, translated to C by rsan itself, compiled with `rsan cc` and run.
//!
//! Under a given schedule the sanitizer must find exactly what the write-log monitor finds in the same steps, as long as
//! it takes waits for loops like others, and the program must compute the same values. Where it recognises waits it must
//! find the same but for waits that only take longer. Running freely, robust programs have no finding, and programs in which every
//! schedule shows something have one in their first run. Needs gcc; without it these tests say so and do nothing.
//!
//! With `RSAN_EXTENDED=1` there are more schedules and more runs. `RSAN_COMPILER` names another compiler.

mod build;
mod compare;
mod corpus;

use build::Workshop;
use corpus::{check_all, extended};
use rsan_crosscheck::{Blocking, inevitable, schedules};
use rsan_lang::emit::Options;
use rsan_model::{Instr, Pc, Program};

/// Steps of a schedule; the endless programs of the corpus have none that are longer in their first rounds.
const LENGTH: usize = 60;

fn workshop(name: &str) -> Option<Workshop> {
    let workshop = Workshop::new(name);
    if workshop.is_none() {
        eprintln!("skipped: gcc is not installed");
    }
    workshop
}

#[test]
fn scheduled_runs_find_what_the_monitor_finds() {
    let Some(workshop) = workshop("scheduled") else {
        return;
    };
    let random = if extended() { 30 } else { 2 };
    let entries = corpus::entries();
    let (wrong, runs) = check_all(&entries, |entry| {
        let program = corpus::with_everything_observed(&entry.program);
        let built = match workshop.build(&entry.name, &program, Options { scheduled: true }) {
            Ok(built) => built,
            Err(message) => return (vec![message], 0),
        };
        let runs = schedules(&program, Blocking::Loop, LENGTH, random);
        let mut wrong = Vec::new();
        for run in &runs {
            let mut what =
                compare::differences(&program, run, &built.run_scheduled(run, "probes=0"));
            if !run.findings.is_empty() {
                let recognised = built.run_scheduled(run, "");
                what.extend(compare::recognised(
                    &program,
                    run,
                    &recognised,
                    entry.robust,
                ));
            }
            if !what.is_empty() {
                let steps = build::schedule(run);
                let what = what.join("; ");
                wrong.push(format!("{} RSAN_SCHEDULE=\"{steps}\": {what}", entry.file));
            }
        }
        (wrong, runs.len())
    });
    println!("{} programs, {runs} schedules", entries.len());
    corpus::assert_none(&wrong);
}

/// Whether a program has a loop, or an operation that is translated to one.
fn has_loops(program: &Program) -> bool {
    program.instructions().any(|(_, pc, instr)| {
        let back = |to: &Pc| *to <= pc;
        matches!(instr, Instr::Wait { .. } | Instr::Bcas { .. })
            || instr.successors(pc).iter().any(back)
    })
}

/// Steps that are tried to see whether every schedule shows something.
const BUDGET: usize = 200_000;

#[test]
fn free_runs_are_clean_or_have_a_finding_at_once() {
    let Some(workshop) = workshop("free") else {
        return;
    };
    let runs = if extended() { 20 } else { 3 };
    let (mut robust, mut inevitably, mut left_out) = (Vec::new(), Vec::new(), 0);
    for entry in corpus::entries() {
        if has_loops(&entry.program) {
            left_out += 1;
        } else if entry.robust {
            robust.push(entry);
        } else if inevitable(&entry.program, Blocking::Loop, LENGTH, BUDGET) == Some(true) {
            inevitably.push(entry);
        }
    }
    let (alarms, _) = check_all(&robust, |entry| {
        let built = match workshop.build(&entry.name, &entry.program, Options::default()) {
            Ok(built) => built,
            Err(message) => return (vec![message], 0),
        };
        let wrong = (0..runs).filter_map(|_| {
            let done = built.run();
            let clean = done.findings.is_empty() && done.status.success();
            (!clean).then(|| format!("{}: {}\n{}", entry.file, done.status, done.stderr))
        });
        (wrong.collect(), 0)
    });
    let (missed, _) = check_all(&inevitably, |entry| {
        let built = match workshop.build(&entry.name, &entry.program, Options::default()) {
            Ok(built) => built,
            Err(message) => return (vec![message], 0),
        };
        let done = built.run();
        let missed = done.findings.is_empty();
        (
            missed
                .then(|| format!("{}: nothing found", entry.file))
                .into_iter()
                .collect(),
            0,
        )
    });
    println!(
        "{} robust programs, {runs} runs each; {} programs with a finding in every schedule; {left_out} with loops",
        robust.len(),
        inevitably.len()
    );
    assert!(robust.len() > 50 && !inevitably.is_empty());
    corpus::assert_none(&alarms);
    corpus::assert_none(&missed);
}
