//! The corpus `litmus/`, translated to C by rsan itself, compiled with `rsan cc` and run.
//!
//! Under a given schedule the sanitizer must find exactly what the write-log monitor finds in the same steps, as long as
//! it takes waits for loops like others, and the program must compute the same values. Where it recognises waits it must
//! find the same but for waits that only take longer. Running freely, robust programs have no finding, and programs in which every
//! schedule shows something have one in their first run. Needs gcc; without it these tests say so and do nothing.
//!
//! With `RSAN_EXTENDED=1` there are more schedules and more runs. `RSAN_COMPILER` names another compiler.

mod annotated;
mod build;
mod compare;
mod corpus;
mod exhaustive;
mod loops;
mod models;
mod rust;
mod weak;

use build::{Built, Workshop};
use corpus::{Entry, check_all, extended};
use rsan_crosscheck::{Blocking, End, Profile, Random, Run, generate, inevitable, schedules};
use rsan_lang::emit::{BLOCKED, Options};
use rsan_model::{LocKind, Model, Program, Verdict, Witness};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Steps of a schedule; the endless programs of the corpus have none that are longer in their first rounds.
const LENGTH: usize = 60;

const SCHEDULED: Options = Options {
    scheduled: true,
    annotated: false,
};

fn workshop(name: &str) -> Option<Workshop> {
    let workshop = Workshop::new(name);
    if workshop.is_none() {
        eprintln!("skipped: gcc is not installed");
    }
    workshop
}

/// Whether a program has a loop other than a wait.
fn has_loops(program: &Program) -> bool {
    program.instructions().any(|(_, pc, instr)| {
        let mut targets = instr.successors(pc).into_iter();
        targets.any(|to| to <= pc)
    })
}

/// Memory for the states of a search for a witness; larger programs do without.
const WITNESS_MEMORY: u64 = 8 << 20;

/// How the verifier says that a program is not robust.
fn witness(program: &Program, model: Model) -> Option<Witness> {
    let options = rsan_verify::Options {
        memory_limit: Some(WITNESS_MEMORY),
        workers: 1,
        ..rsan_verify::Options::new(model)
    };
    let outcome = rsan_verify::verify(program, &options, &mut |_| {}).expect("it has a meaning");
    match outcome.verdict {
        Verdict::Violation(witness) => Some(*witness),
        Verdict::Robust | Verdict::Unknown(_) => None,
    }
}

#[test]
fn scheduled_runs_find_what_the_monitor_finds() {
    let Some(workshop) = workshop("scheduled") else {
        return;
    };
    let random = if extended() { 30 } else { 2 };
    let entries = corpus::entries();
    let witnesses = AtomicUsize::new(0);
    let (wrong, runs) = check_all(&entries, |entry| {
        let program = corpus::with_everything_observed(&entry.program);
        let built = match workshop.build(&entry.name, &program, SCHEDULED) {
            Ok(built) => built,
            Err(message) => return (vec![message], 0),
        };
        let mut runs = schedules(&program, Blocking::Loop, LENGTH, random);
        let witness = (!entry.robust)
            .then(|| witness(&program, Model::C20))
            .flatten();
        if let Some(witness) = &witness {
            match Run::witnessed(&program, Blocking::Loop, witness) {
                Ok(run) if run.findings.is_empty() && run.last.end() != Some(End::Failure) => {
                    return (
                        vec![format!("{}: its witness shows nothing", entry.file)],
                        0,
                    );
                }
                Ok(run) => runs.push(run),
                Err(why) => return (vec![format!("{}: no witness: {why}", entry.file)], 0),
            }
            witnesses.fetch_add(1, Ordering::Relaxed);
        }
        let differences = |run| differences(&program, entry.robust, &built, run);
        let wrong = runs.iter().filter_map(differences);
        (
            wrong.map(|what| format!("{} {what}", entry.file)).collect(),
            runs.len(),
        )
    });
    let robust = entries.iter().filter(|entry| entry.robust).count();
    println!(
        "{} programs, {runs} schedules; of {} that are not robust {} with the schedule of a witness",
        entries.len(),
        entries.len() - robust,
        witnesses.into_inner()
    );
    corpus::assert_none(&wrong);
}

/// What is wrong with the runs of a translation under the schedule of `run`.
fn differences(program: &Program, robust: bool, built: &Built, run: &Run<'_>) -> Option<String> {
    let mut what = compare::differences(program, run, &built.run_scheduled(run, "probes=0"));
    if !run.findings.is_empty() {
        let done = built.run_scheduled(run, "");
        what.extend(if has_loops(program) {
            compare::not_known(program, run, &done, robust && !run.has_polls())
        } else {
            compare::other_findings(program, &run.again(program, Blocking::Whole), &done)
        });
    }
    let steps = build::schedule(run);
    let what = (!what.is_empty()).then(|| what.join("; "))?;
    Some(format!("RSAN_SCHEDULE=\"{steps}\": {what}"))
}

#[test]
fn random_programs_find_what_the_monitor_finds() {
    let Some(workshop) = workshop("random") else {
        return;
    };
    let (each, schedules_each) = if extended() { (100, 20) } else { (4, 4) };
    let profiles = Profile::of(Model::C20);
    let seeds: Vec<u64> = (0..each * profiles.len() as u64).collect();
    let (wrong, runs) = check_all(&seeds, |&seed| {
        let profile = profiles[seed as usize % profiles.len()];
        let program = generate(&mut Random::new(seed), profile, Model::C20);
        let program = corpus::with_everything_observed(&program);
        let name = format!("seed-{seed}");
        let built = match workshop.build(&name, &program, SCHEDULED) {
            Ok(built) => built,
            Err(message) => return (vec![message], 0),
        };
        let runs = schedules(&program, Blocking::Loop, LENGTH, schedules_each);
        let differences = |run| differences(&program, false, &built, run);
        let wrong = runs.iter().filter_map(differences);
        (
            wrong.map(|what| format!("{name} {what}")).collect(),
            runs.len(),
        )
    });
    println!("{} random programs, {runs} schedules", seeds.len());
    corpus::assert_none(&wrong);
}

/// Steps that are tried to see whether every schedule shows something.
const BUDGET: usize = 200_000;

/// Runs that are tried to see whether a program is robust only as long as nobody looks in vain.
const TRIES: u64 = 200;

/// Whether a robust program has findings when its waits are loops whose failed iterations count: one that reads an old
/// value, as SC allows, can be half of a store buffering, although the program goes on as if it had not been.
fn is_touchy(program: &Program) -> bool {
    let runs = schedules(program, Blocking::Whole, LENGTH, TRIES);
    runs.iter().any(|run| !run.findings.is_empty())
}

/// Whether a program has plain memory. The sanitizer may miss a race of a run (docs/sanitizer.md says when), so only forced
/// schedules say something about it.
fn has_plain_memory(program: &Program) -> bool {
    let mut locations = program.locations.iter();
    locations.any(|location| location.kind == LocKind::Plain)
}

/// What is wrong with free runs of a robust program.
fn alarms(workshop: &Workshop, entry: &Entry, options: Options, runs: usize) -> Vec<String> {
    let built = match workshop.build(&entry.name, &entry.program, options) {
        Ok(built) => built,
        Err(message) => return vec![message],
    };
    alarms_of(&built, entry, runs)
}

/// The same of a program that has been built.
fn alarms_of(built: &Built, entry: &Entry, runs: usize) -> Vec<String> {
    let wrong = (0..runs).filter_map(|_| {
        let done = built.run();
        let ended = done.status.success() || done.status.code() == Some(BLOCKED);
        let clean = done.findings.is_empty() && ended;
        (!clean).then(|| format!("{}: {}\n{}", entry.file, done.status, done.stderr))
    });
    wrong.collect()
}

/// Robust programs that are touchy run in their annotated form only; see `annotated.rs`.
#[test]
fn free_runs_are_clean_or_have_a_finding_at_once() {
    let Some(workshop) = workshop("free") else {
        return;
    };
    let runs = if extended() { 20 } else { 3 };
    let (mut robust, mut inevitably) = (Vec::new(), Vec::new());
    let (mut touchy, mut loops, mut plain, mut others) = (0, 0, 0, 0);
    for entry in corpus::entries() {
        if entry.robust && is_touchy(&entry.program) {
            assert!(annotated::is_annotated(&entry), "{}", entry.file);
            touchy += 1;
        } else if entry.robust {
            robust.push(entry);
        } else if has_loops(&entry.program) {
            loops += 1;
        } else if has_plain_memory(&entry.program) {
            plain += 1;
        } else if inevitable(&entry.program, LENGTH, BUDGET) == Some(true) {
            inevitably.push(entry);
        } else {
            others += 1;
        }
    }
    let (false_alarms, _) = check_all(&robust, |entry| {
        (alarms(&workshop, entry, Options::default(), runs), 0)
    });
    let (missed, _) = check_all(&inevitably, |entry| {
        let built = match workshop.build(&entry.name, &entry.program, Options::default()) {
            Ok(built) => built,
            Err(message) => return (vec![message], 0),
        };
        let missed = built.run().findings.is_empty();
        let message = missed.then(|| format!("{}: nothing found", entry.file));
        (message.into_iter().collect(), 0)
    });
    println!(
        "{} robust programs, {runs} runs each, {touchy} others only annotated; {} with a finding in every schedule, 1 run each; \
         {others} without; {loops} that are not robust and have loops, {plain} and have plain memory",
        robust.len(),
        inevitably.len()
    );
    assert!(robust.len() > 100 && !inevitably.is_empty());
    corpus::assert_none(&false_alarms);
    corpus::assert_none(&missed);
}
