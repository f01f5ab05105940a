//! The exploration of all executions against the oracle: every sequentially consistent execution graph is shown by exactly
//! one run.

mod common;

use common::{assert_none, check_all, files, read};
use rsan_axioms::{Limits, robustness};
use rsan_crosscheck::{
    Blocking, Controlled, Finding, Profile, Random, Shape, Step, Walk, generate,
};
use rsan_model::{CasStrength, Instr, Model, Program};
use rsan_schedule::explore::{Bounds, Counts, Explorer, Guided, Outcome};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Most steps of a run, and most runs.
const STEPS: usize = 500;
const RUNS: u64 = 200_000;

/// The executions that the explorer shows; an error when one is shown twice or something else goes wrong.
fn explored(program: &Program, attempts: bool) -> Result<(BTreeSet<Shape>, Counts), String> {
    let start = match attempts {
        true => Controlled::with_attempts(program),
        false => Controlled::new(program),
    };
    let mut explorer = Explorer::new(Bounds {
        roots: Controlled::roots(program),
        runs: Some(RUNS),
        ..Bounds::default()
    });
    let mut shapes = BTreeSet::new();
    while let Some(job) = explorer.next() {
        let mut strategy = Guided::new(job.plan.clone());
        let (trace, shape) = start.clone().run(&mut strategy, STEPS);
        match explorer.done(job.id, &trace) {
            Outcome::Execution { .. } if !shapes.insert(shape.clone()) => {
                return Err(format!("shown twice, the second time by {:?}", trace.steps));
            }
            Outcome::Execution { .. } | Outcome::Excess => {}
            outcome => return Err(format!("{outcome:?} by {job:?}")),
        }
        if attempts {
            // Nothing is lost when it is saved.
            explorer = Explorer::load(&explorer.save()).map_err(|error| format!("{error:?}"))?;
        }
    }
    let progress = explorer.progress();
    if !progress.is_complete() || (progress.share - 1.0).abs() > 1e-6 {
        return Err(format!("{progress:?}"));
    }
    Ok((shapes, progress.counts))
}

/// The executions that the oracle counts; `None` when they are too many, or more than the program's loops allow.
fn counted(program: &Program) -> Option<BTreeSet<Shape>> {
    let limits = Limits {
        unroll: 4,
        max_graphs: 2_000,
        ..Limits::default()
    };
    Shape::all(program, &limits)
}

/// The program without what a deterministic run cannot do; `None` when that is not possible.
fn deterministic(program: Program) -> Option<Program> {
    let chooses = |(_, _, instr): (_, _, &Instr)| matches!(instr, Instr::Choose(_));
    let chooses = program.instructions().any(chooses);
    (!chooses).then_some(program)
}

/// The program without failures for no reason, which a walk does not know.
fn strong(mut program: Program) -> Program {
    for thread in &mut program.threads {
        for instr in &mut thread.code {
            if let Instr::Cas { strength, .. } = instr {
                *strength = CasStrength::Strong;
            }
        }
    }
    program
}

/// What is wrong with the exploration of a program, and the number of runs in excess; `None` when the oracle cannot tell.
fn difference(program: &Program) -> Option<(Vec<String>, Counts)> {
    let counted = counted(program)?;
    let both = [false, true].map(|attempts| explored(program, attempts));
    let (explored, counts) = match both {
        [Ok((explored, _)), Ok((again, _))] if explored != again => {
            let error = "attempts make a difference".to_owned();
            return Some((vec![error], Counts::default()));
        }
        [Ok(explored), Ok(_)] => explored,
        [Err(error), _] | [_, Err(error)] => return Some((vec![error], Counts::default())),
    };
    let missing = counted.difference(&explored).next();
    let wrong = explored.difference(&counted).next();
    let text = |what: &str, shape: Option<&Shape>| Some(format!("{what}: {:?}", shape?));
    let all = [text("missing", missing), text("wrong", wrong)];
    Some((all.into_iter().flatten().collect(), counts))
}

/// Checks all programs that a deterministic run can do and the oracle can count, and says what there was.
fn check(programs: &[(String, Program)], least: usize) {
    let checked = AtomicUsize::new(0);
    let excess = AtomicU64::new(0);
    let executions = AtomicU64::new(0);
    let wrong = check_all(programs, |(name, program)| {
        let program = deterministic(program.clone());
        let Some((found, counts)) = program.and_then(|p| difference(&p)) else {
            return Vec::new();
        };
        checked.fetch_add(1, Ordering::Relaxed);
        excess.fetch_add(counts.excess, Ordering::Relaxed);
        executions.fetch_add(counts.executions, Ordering::Relaxed);
        found.iter().map(|d| format!("{name}: {d}")).collect()
    });
    let checked = checked.into_inner();
    eprintln!("{checked} programs, {executions:?} executions, {excess:?} runs in excess");
    assert_none(&wrong);
    assert!(checked >= least, "only {checked} programs were checked");
}

#[test]
fn every_execution_of_random_programs_is_shown_once() {
    let profiles = Profile::all();
    let program = |seed: u64| {
        let profile = profiles[seed as usize % profiles.len()];
        let program = generate(&mut Random::new(seed), profile, Model::C20);
        (format!("seed {seed}"), program)
    };
    let programs: Vec<_> = (0..3300).map(program).collect();
    check(&programs, 3000);
}

#[test]
fn every_execution_of_the_corpus_is_shown_once() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let program = |file: &PathBuf| (file.display().to_string(), read(file).0);
    let programs: Vec<_> = files(&root).iter().map(program).collect();
    check(&programs, 240);
}

/// Whether some run that the explorer wants shows an access that can be weak.
fn is_weak_somewhere(program: &Program) -> bool {
    let mut explorer = Explorer::new(Bounds {
        roots: Controlled::roots(program),
        ..Bounds::default()
    });
    let mut weak = false;
    while let Some(job) = explorer.next() {
        let mut strategy = Guided::new(job.plan);
        let (trace, _) = Controlled::new(program).run(&mut strategy, STEPS);
        explorer.done(job.id, &trace);
        let mut walk = Walk::new(program, Blocking::Whole);
        for step in &trace.steps {
            let thread = step.thread;
            let findings = walk.step(Step { thread, way: 0 });
            weak |= findings.iter().any(|f| matches!(f, Finding::Weak { .. }));
        }
    }
    assert!(explorer.progress().is_complete());
    weak
}

/// Exploring decides robustness: one run of every execution shows the monitor all there is to see, whatever the order of the
/// fences in it.
#[test]
fn the_monitor_on_every_execution_gives_the_verdict_of_the_oracle() {
    let profiles = [
        Profile::Fences,
        Profile::SeqCst,
        Profile::Mix,
        Profile::Litmus,
    ];
    let seeds: Vec<u64> = (0..2500).collect();
    let (robust, weak) = (AtomicU64::new(0), AtomicU64::new(0));
    let wrong = check_all(&seeds, |&seed| {
        let profile = profiles[seed as usize % profiles.len()];
        let program = generate(&mut Random::new(seed), profile, Model::C20);
        // The walk ends at a race or a failed assertion, and does not know attempts.
        let other = |(_, _, instr): (_, _, &Instr)| {
            matches!(
                instr,
                Instr::Wait { .. }
                    | Instr::Bcas { .. }
                    | Instr::Assert(_)
                    | Instr::Spawn(_)
                    | Instr::PlainLoad { .. }
                    | Instr::PlainStore { .. }
            )
        };
        let program = deterministic(program)
            .map(strong)
            .filter(|p| !p.instructions().any(other));
        let answer = program.as_ref().and_then(|program| {
            let answer = robustness(program, Model::C20, &Limits::default()).ok()?;
            answer.cut.is_none().then_some((program, answer.robust))
        });
        let Some((program, expected)) = answer else {
            return Vec::new();
        };
        let kind = if expected { &robust } else { &weak };
        kind.fetch_add(1, Ordering::Relaxed);
        match is_weak_somewhere(program) == expected {
            true => vec![format!("seed {seed}: robust {expected}\n{program:?}")],
            false => Vec::new(),
        }
    });
    eprintln!("{robust:?} robust programs, {weak:?} others");
    assert_none(&wrong);
    assert!(robust.into_inner() > 300 && weak.into_inner() > 300);
}
